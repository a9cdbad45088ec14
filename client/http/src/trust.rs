//! Trust in certificates that the user named: as usual, and in the server's own certificate itself.
//!
//! Whoever makes a certificate by hand often makes one that calls itself an authority (`openssl req -x509` does so) and serves
//! with it. The usual verification refuses that: an authority is nobody's server. curl accepts it, because the user named
//! this very certificate; so does this, when the name and the dates fit, too.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

/// TLS towards servers whose certificates one of these, in PEM form, vouches for, or that are one of these.
pub(crate) fn trusting(pem: &[u8]) -> Result<ClientConfig, Error> {
    let unreadable = |_| Error::InvalidCertificate(CertificateError::BadEncoding);
    let named = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let mut roots = RootCertStore::empty();
    for certificate in &named {
        roots.add(certificate.clone())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new(roots, named, provider.clone())?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The usual verification, and one exception.
#[derive(Debug)]
struct Verifier {
    usual: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl Verifier {
    fn new(
        roots: RootCertStore,
        named: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Error> {
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
            // The dates were checked before: one that is out of date is refused for that.
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

/// Whether everything but this was right so far: the certificate calls itself an authority.
pub(crate) fn is_authority_as_server(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(other))) = error else { return false };
    matches!(other.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
