//! Verification of server certificates against the certificates that the user specified. A specified certificate may belong to a
//! certificate authority. It may also be the server's own certificate.
//!
//! A self-made certificate often declares itself a certificate authority (as `openssl req -x509` does), although a server uses it directly.
//! The usual verification rejects such a certificate, because an authority must not be a server. curl accepts it, because the user
//! specified this very certificate. The verifier of this module accepts it, too, if the certificate's name and dates are also valid.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, InconsistentKeys,
    OtherError, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::config::TransportError;
use crate::target::{IdentityPem, Target};

/// Returns the TLS configuration for a target.
///
/// # Errors
/// Fails if certificates cannot be read or used.
pub(crate) fn config(target: &Target) -> Result<ClientConfig, TransportError> {
    let trust = &target.trust;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let named = trust.roots_pem.as_deref().map(read).transpose()?;
    let certified = trust.identity.as_ref().map(|pem| certified_key(pem, &provider)).transpose()?;
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let with = |builder: ConfigBuilder<_, _>| {
        let schemes = provider.signature_verification_algorithms.supported_schemes();
        let verifier = match named {
            _ if trust.insecure => Verifier { usual: None, named: Vec::new(), schemes },
            Some(named) => Verifier { usual: Some(usual(&named, provider)?), named, schemes },
            None => return builder.with_platform_verifier(),
        };
        Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)))
    };
    let config = builder.and_then(with).map_err(TransportError::Untrustable)?;
    let asked = target.asks_for_certificate.clone();
    Ok(config.with_client_cert_resolver(Arc::new(Identity { certified, asked })))
}

/// Resolver of the optional client certificate. It records that the server asked for one.
#[derive(Debug)]
struct Identity {
    certified: Option<Arc<CertifiedKey>>,
    asked: Arc<AtomicBool>,
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Relaxed);
        self.certified.clone()
    }

    fn has_certs(&self) -> bool {
        self.certified.is_some()
    }
}

fn certified_key(pem: &IdentityPem, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, TransportError> {
    let key =
        PrivateKeyDer::from_pem_slice(&pem.key).map_err(|error| pem_error(error, TransportError::Key))?;
    let key = provider.key_provider.load_private_key(key).map_err(TransportError::Identity)?;
    let certified = CertifiedKey::new(read(&pem.certificates)?, key);
    match certified.keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(TransportError::OtherKey),
        // A certificate whose key cannot be read, such as one of X.509 version 1, is left to the server.
        _ => Ok(Arc::new(certified)),
    }
}

fn read(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| pem_error(error, TransportError::Roots))?;
    if certificates.is_empty() { Err(TransportError::Nothing) } else { Ok(certificates) }
}

fn pem_error(error: pem::Error, otherwise: fn(pem::Error) -> TransportError) -> TransportError {
    match error {
        // The library's message prints the missing line as a list of bytes.
        pem::Error::MissingSectionEnd { .. } => TransportError::CutOff,
        pem::Error::NoItemsFound => TransportError::Nothing,
        error => otherwise(error),
    }
}

/// Verifier that accepts the certificates in `named`, and certificates whose chain of issuers leads to one of them.
#[derive(Debug)]
struct Verifier {
    /// `None` if every certificate is accepted (`--insecure`).
    usual: Option<Arc<WebPkiServerVerifier>>,
    named: Vec<CertificateDer<'static>>,
    schemes: Vec<SignatureScheme>,
}

fn usual(
    named: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in named {
        roots.add(certificate.clone())?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| Error::General(error.to_string()))
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
        let Some(usual) = &self.usual else { return Ok(ServerCertVerified::assertion()) };
        match usual.verify_server_cert(end_entity, intermediates, name, ocsp_response, now) {
            // The dates need no check here, because the usual verification would have returned another error for an expired certificate.
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
        let Some(usual) = &self.usual else { return Ok(HandshakeSignatureValid::assertion()) };
        usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(usual) = &self.usual else { return Ok(HandshakeSignatureValid::assertion()) };
        usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// Returns true if verification failed only because the server's certificate declares itself a certificate authority.
pub(crate) fn is_authority_as_server(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(other))) = error else { return false };
    matches!(other.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
