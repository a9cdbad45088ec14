//! Trust in certificates that the user named: the usual verification, and trust in the server's own certificate.
//!
//! A certificate made by hand often declares itself an authority (`openssl req -x509` does so), and a server uses it all the
//! same. The usual verification rejects that, because an authority must not be a server. curl accepts it, because the user named
//! this very certificate. So does this verifier, if name and dates are valid, too.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::target::Trust;
use crate::transport::TransportError;

/// Returns the TLS configuration for these rules of trust.
///
/// # Errors
/// If certificates cannot be read or used.
pub(crate) fn config(trust: &Trust) -> Result<ClientConfig, TransportError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let named = trust.roots_pem.as_deref().map(read).transpose()?;
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let with = |builder: ConfigBuilder<_, _>| match named {
        _ if trust.insecure => {
            let any = Arc::new(AnyCertificate(provider.signature_verification_algorithms));
            Ok(builder.dangerous().with_custom_certificate_verifier(any))
        }
        Some(named) => {
            let verifier = Verifier::new(named, provider)?;
            Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)))
        }
        None => builder.with_platform_verifier(),
    };
    let config = builder.and_then(with).map_err(TransportError::Untrustable)?;
    Ok(config.with_no_client_auth())
}

fn read(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(TransportError::Roots)
}

/// No verification at all (`--insecure`).
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[derive(Debug)]
struct Verifier {
    usual: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// Accepts certificates that one of `named` vouches for, and those in `named`.
    fn new(named: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        for certificate in &named {
            roots.add(certificate.clone())?;
        }
        let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| Error::General(error.to_string()))?;
        Ok(Self { usual, named })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual = self.usual.verify_server_cert(end_entity, intermediates, name, ocsp_response, now);
        match usual {
            // The dates were checked before: an expired certificate has another error.
            Err(error) if is_authority_as_server(&error) && self.named.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            usual => usual,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Returns true if the certificate's only fault so far is that it declares itself an authority.
pub(crate) fn is_authority_as_server(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(other))) = error else { return false };
    matches!(other.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
