import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CertificateWithKey, createCertificateAuthority } from './certificate-authority.ts';
import { type IssueCertificateOptions, issueCertificate } from './issue-certificate.ts';
import { createKeyPair } from './key-pair.ts';
import { loadX509 } from './x509-library.test-support.ts';

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const HOUR_MS = 3_600_000;

let authority: CertificateWithKey;
beforeAll(async () => {
  authority = await createCertificateAuthority({ commonName: 'test root', organization: 'bowline' });
});

const issue = (options: Partial<IssueCertificateOptions> = {}): Promise<CertificateWithKey> =>
  issueCertificate({ authority, commonName: 'leaf', usages: ['client'], ...options });

describe('createCertificateAuthority', () => {
  it('signs itself and is marked as an authority', () => {
    const root = new X509Certificate(authority.certificatePem);
    expect(root.ca).toBe(true);
    expect(root.subject).toBe('O=bowline\nCN=test root');
    expect(root.issuer).toBe(root.subject);
    expect(root.verify(root.publicKey)).toBe(true);
    expect(root.checkPrivateKey(createPrivateKey(authority.keyPem))).toBe(true);
    expect(root.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });

  it('may sign certificates and revocation lists, one level deep, and both extensions are critical', async () => {
    const x509 = await loadX509();
    const root = new x509.X509Certificate(authority.certificatePem);
    const constraints = root.getExtension(x509.BasicConstraintsExtension);
    const usages = root.getExtension(x509.KeyUsagesExtension);
    expect(constraints).toMatchObject({ ca: true, pathLength: 0, critical: true });
    expect(usages).toMatchObject({
      usages: x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
      critical: true,
    });
  });

  it('is valid from five minutes ago for the requested time, in whole seconds', async () => {
    const now = Date.UTC(2030, 5, 1, 12, 0, 0, 789);
    const { certificatePem } = await createCertificateAuthority({ commonName: 'r', now, validForMs: HOUR_MS });
    const root = new X509Certificate(certificatePem);
    expect(Date.parse(root.validFrom)).toBe(Date.UTC(2030, 5, 1, 11, 55));
    expect(Date.parse(root.validTo)).toBe(Date.UTC(2030, 5, 1, 13));
  });

  it('can last beyond 2049, where the encoding of dates changes', async () => {
    const now = Date.UTC(2049, 11, 31, 23, 59);
    const { certificatePem } = await createCertificateAuthority({ commonName: 'r', now, validForMs: HOUR_MS });
    expect(Date.parse(new X509Certificate(certificatePem).validTo)).toBe(Date.UTC(2050, 0, 1, 0, 59));
  });

  it.each([
    ['an empty common name', { commonName: '' }],
    ['a validity of zero', { commonName: 'r', validForMs: 0 }],
    ['a validity that is not a number', { commonName: 'r', validForMs: Number.NaN }],
    ['a validity beyond the year 9999', { commonName: 'r', validForMs: 8000 * 366 * 24 * HOUR_MS }],
  ])('rejects %s', async (_, options) => {
    await expect(createCertificateAuthority(options)).rejects.toMatchObject({
      code: 'BOWLINE_CERTIFICATE_REQUEST_INVALID',
    });
  });
});

describe('issueCertificate', () => {
  it('issues a certificate that verifies only against its authority', async () => {
    const leaf = new X509Certificate((await issue()).certificatePem);
    const root = new X509Certificate(authority.certificatePem);
    const other = new X509Certificate((await createCertificateAuthority({ commonName: 'other' })).certificatePem);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.verify(other.publicKey)).toBe(false);
    expect(leaf.checkIssued(other)).toBe(false);
    expect(leaf.ca).toBe(false);
  });

  it('has the key identifier of its authority and its own key identifier', async () => {
    const x509 = await loadX509();
    const root = new x509.X509Certificate(authority.certificatePem);
    const leaf = new x509.X509Certificate((await issue()).certificatePem);
    const rootKeyId = root.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
    expect(rootKeyId).toMatch(/^[0-9a-f]{40}$/);
    expect(leaf.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(rootKeyId);
    expect(leaf.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId).not.toBe(rootKeyId);
    expect(leaf.getExtension(x509.KeyUsagesExtension)?.usages).toBe(x509.KeyUsageFlags.digitalSignature);
    expect(leaf.getExtension(x509.BasicConstraintsExtension)).toMatchObject({ ca: false, critical: true });
  });

  it('keeps every organization and their order before the common name', async () => {
    const { certificatePem } = await issue({ commonName: 'system:node:a', organizations: ['system:nodes', 'b, c=d'] });
    expect(new X509Certificate(certificatePem).toLegacyObject().subject).toEqual({
      O: ['system:nodes', 'b, c=d'],
      CN: 'system:node:a',
    });
  });

  it('carries DNS names, addresses of both families and URIs', async () => {
    const { certificatePem } = await issue({
      usages: ['server'],
      dnsNames: ['localhost', '*.bowline-system.svc'],
      ipAddresses: ['127.0.0.1', '::1', '2001:db8::ff00:42:8329'],
      uris: ['spiffe://example.org/ns/default/sa/web'],
    });
    const leaf = new X509Certificate(certificatePem);
    expect(leaf.subjectAltName).toBe(
      'DNS:localhost, DNS:*.bowline-system.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, ' +
        'IP Address:2001:DB8:0:0:0:FF00:42:8329, URI:spiffe://example.org/ns/default/sa/web',
    );
    expect(leaf.checkHost('webhook.bowline-system.svc')).toBe('*.bowline-system.svc');
    expect(leaf.checkIP('::1')).toBe('::1');
    expect(leaf.checkHost('example.com')).toBeUndefined();
  });

  it('carries names that need a long-form length, and IPv4-mapped addresses', async () => {
    const dnsNames = Array.from({ length: 3_000 }, (_, index) => `host-${index}.example.test`);
    const { certificatePem } = await issue({ dnsNames, ipAddresses: ['::', '::ffff:192.0.2.1', 'fe80::1:0:0:2'] });
    const { subjectAltName = '' } = new X509Certificate(certificatePem);
    expect(subjectAltName.split(', ')).toEqual([
      ...dnsNames.map((name) => `DNS:${name}`),
      'IP Address:0:0:0:0:0:0:0:0',
      'IP Address:0:0:0:0:0:FFFF:C000:201',
      'IP Address:FE80:0:0:0:1:0:0:2',
    ]);
  });

  it('has no alternative names by default', async () => {
    expect(new X509Certificate((await issue()).certificatePem).subjectAltName).toBeUndefined();
  });

  it.each([
    [['server'] as const, [SERVER_AUTH]],
    [['client'] as const, [CLIENT_AUTH]],
    [['server', 'client', 'server'] as const, [SERVER_AUTH, CLIENT_AUTH]],
  ])('is for %s only', async (usages, expected) => {
    const leaf = new X509Certificate((await issue({ usages, dnsNames: ['localhost'] })).certificatePem);
    expect(leaf.keyUsage).toEqual(expected);
  });

  it('gives every certificate a unique positive serial number of 16 bytes', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => issue()));
    const serials = made.map(({ certificatePem }) => new X509Certificate(certificatePem).serialNumber);
    expect(new Set(serials).size).toBe(20);
    for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  it('never outlives its authority', async () => {
    const now = Date.UTC(2030, 0, 1);
    const short = await createCertificateAuthority({ commonName: 'short', now, validForMs: HOUR_MS });
    const leaf = await issue({ authority: short, now, validForMs: 24 * HOUR_MS });
    expect(Date.parse(new X509Certificate(leaf.certificatePem).validTo)).toBe(now + HOUR_MS);
  });

  it('is valid for 90 days by default', async () => {
    const now = Date.UTC(2030, 0, 1);
    const leaf = new X509Certificate((await issue({ now })).certificatePem);
    expect(Date.parse(leaf.validTo) - now).toBe(90 * 24 * HOUR_MS);
  });

  it('signs with an external RSA authority and uses its key identifier', async () => {
    const x509 = await loadX509();
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    const pkcs8 = keys.privateKey.export({ type: 'pkcs8', format: 'der' });
    const foreign = await x509.X509CertificateGenerator.create({
      subject: 'CN=foreign',
      issuer: 'CN=foreign',
      publicKey: new x509.PublicKey(keys.publicKey.export({ type: 'spki', format: 'der' })),
      signingKey: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
      extensions: [new x509.BasicConstraintsExtension(true), new x509.SubjectKeyIdentifierExtension('00112233')],
    });
    const leafPem = await issue({
      authority: {
        certificatePem: foreign.toString('pem'),
        keyPem: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      },
    });
    const leaf = new X509Certificate(leafPem.certificatePem);
    expect(leaf.verify(keys.publicKey)).toBe(true);
    const keyId = new x509.X509Certificate(leafPem.certificatePem).getExtension(x509.AuthorityKeyIdentifierExtension);
    expect(keyId?.keyId).toBe('00112233');
  });

  it.each<[string, Partial<IssueCertificateOptions>, RegExp]>([
    ['no usages', { usages: [] }, /no usages/],
    ['a server without a name', { usages: ['server'] }, /no alternative name/],
    ['an address among the DNS names', { dnsNames: ['127.0.0.1'] }, /"127\.0\.0\.1" is not a DNS name.*ipAddresses/],
    ['a DNS name with a port', { dnsNames: ['localhost:8443'] }, /"localhost:8443" is not a DNS name/],
    ['a wildcard in the middle', { dnsNames: ['a.*.example'] }, /is not a DNS name/],
    ['a host name among the addresses', { ipAddresses: ['localhost'] }, /"localhost" is not an IP address/],
    ['an address with a zone', { ipAddresses: ['fe80::1%eth0'] }, /is not an IP address/],
    ['a relative URI', { uris: ['ns/default'] }, /"ns\/default" is not an absolute URI/],
    ['an empty common name', { commonName: '' }, /common name/],
    ['an empty organization', { organizations: [''] }, /organization/],
  ])('rejects %s', async (_, options, message) => {
    await expect(issue(options)).rejects.toMatchObject({
      code: 'BOWLINE_CERTIFICATE_REQUEST_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it.each<[string, () => Promise<Partial<IssueCertificateOptions>>, RegExp]>([
    [
      'a key of another authority',
      async () => ({
        authority: { ...authority, keyPem: (await createCertificateAuthority({ commonName: 'x' })).keyPem },
      }),
      /does not match the certificate "O=bowline, CN=test root"/,
    ],
    ['an end certificate', async () => ({ authority: await issue() }), /"CN=leaf" is not a certificate authority/],
    ['an authority that has expired', async () => ({ now: Date.UTC(2100, 0) }), /expired at/],
    [
      'a certificate that is not PEM',
      async () => ({ authority: { ...authority, certificatePem: 'nonsense' } }),
      /certificate is not valid PEM/,
    ],
  ])('rejects %s', async (_, options, message) => {
    await expect(issue(await options())).rejects.toMatchObject({
      code: 'BOWLINE_CERTIFICATE_AUTHORITY_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('never puts key material into an error', async () => {
    const keyPem = authority.keyPem.replace('PRIVATE KEY', 'CANARY KEY');
    const error = await issue({ authority: { ...authority, keyPem } }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'BOWLINE_CERTIFICATE_AUTHORITY_INVALID' });
    expect((error as Error).cause).toBeUndefined();
    expect((error as Error).message).not.toMatch(/CANARY|BEGIN/);
  });
});

describe('a TLS handshake on the loopback', () => {
  async function handshake(client: CertificateWithKey | undefined, servername: string): Promise<PeerCertificate> {
    const server = await issue({
      usages: ['server'],
      commonName: 'api',
      dnsNames: ['api.test'],
      ipAddresses: ['127.0.0.1'],
    });
    const listener = createServer({
      ca: authority.certificatePem,
      cert: server.certificatePem,
      key: server.keyPem,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: 'TLSv1.3',
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const accepted = new Promise<PeerCertificate>((resolve, reject) => {
      listener.once('secureConnection', (socket: TLSSocket) => {
        resolve(socket.getPeerCertificate());
        socket.end();
      });
      listener.once('tlsClientError', reject);
    });
    const socket = connect({
      host: '127.0.0.1',
      port: (listener.address() as AddressInfo).port,
      ca: authority.certificatePem,
      servername,
      ...(client ? { cert: client.certificatePem, key: client.keyPem } : {}),
    });
    const refused = new Promise<never>((_, reject) => socket.once('error', reject));
    refused.catch(() => undefined);
    try {
      return await Promise.race([accepted, refused]);
    } finally {
      accepted.catch(() => undefined);
      socket.destroy();
      listener.close();
      await once(listener, 'close');
    }
  }

  it('authenticates both sides and gives the server the user and the groups of the client', async () => {
    const client = await issue({ commonName: 'alice', organizations: ['devs', 'system:masters'] });
    const peer = await handshake(client, 'api.test');
    expect(peer.subject).toMatchObject({ CN: 'alice', O: ['devs', 'system:masters'] });
  });

  it('fails when the client has a certificate of another authority', async () => {
    const stranger = await createCertificateAuthority({ commonName: 'stranger' });
    const client = await issue({ authority: stranger, commonName: 'alice' });
    await expect(handshake(client, 'api.test')).rejects.toThrow();
  });

  it('fails when a server certificate is used by a client', async () => {
    const client = await issue({ usages: ['server'], dnsNames: ['x'] });
    await expect(handshake(client, 'api.test')).rejects.toThrow();
  });

  it('fails when the client expects a name that the server does not have', async () => {
    await expect(handshake(await issue(), 'other.test')).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });
});

describe('createKeyPair', () => {
  it.each([
    ['ecdsa-p256', 'ec', { namedCurve: 'prime256v1' }],
    ['rsa-2048', 'rsa', { modulusLength: 2048 }],
  ] as const)('creates a matching %s key pair', async (algorithm, type, details) => {
    const { publicKeyPem, privateKeyPem } = await createKeyPair({ algorithm });
    const publicKey = createPublicKey(publicKeyPem);
    expect(publicKey.asymmetricKeyType).toBe(type);
    expect(publicKey.asymmetricKeyDetails).toMatchObject(details);
    const data = Buffer.from('payload');
    expect(verify('sha256', data, publicKey, sign('sha256', data, privateKeyPem))).toBe(true);
  });

  it('uses ECDSA P-256 by default', async () => {
    expect(createPrivateKey((await createKeyPair()).privateKeyPem).asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });
});
