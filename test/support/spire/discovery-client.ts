import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import type { Spire } from './run-spire.ts';

/** DiscoveryClient asks an OIDC discovery provider, as a client that verifies JWTs does. */
export interface DiscoveryClient {
  /** get returns the JSON at a path. */
  get(path: string): Promise<unknown>;
}

/** startDiscovery runs the OIDC discovery provider with a rendered configuration for an issuer. */
export async function startDiscovery(spire: Spire, config: string, issuer: string): Promise<DiscoveryClient> {
  const { hostname } = new URL(issuer);
  const authority = await createCertificateAuthority({ commonName: 'ca of the discovery provider' });
  const certificate = await issueCertificate({
    authority,
    commonName: hostname,
    dnsNames: [hostname],
    usages: ['server'],
  });
  await spire.startOidcDiscoveryProvider(config, certificate);
  return {
    async get(path) {
      const sent = request({
        host: '127.0.0.1',
        port: spire.oidcPort,
        path,
        servername: hostname,
        headers: { host: hostname },
        ca: authority.certificatePem,
        agent: false,
      });
      sent.end();
      const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { readonly statusCode?: number }];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      if (response.statusCode !== 200) throw new Error(`the provider returned ${response.statusCode}: ${text}`);
      return JSON.parse(text) as unknown;
    },
  };
}

/** verifiedClaims returns the claims of a token that one of the keys signed. It throws if none did. */
export function verifiedClaims(token: string, keys: unknown): unknown {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: string };
  const key = (keys as { readonly keys: readonly { readonly kid: string }[] }).keys.find((each) => each.kid === kid);
  if (!key) throw new Error(`no key has the id ${kid}`);
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' });
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong');
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}
