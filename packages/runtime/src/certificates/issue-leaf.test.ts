import { X509Certificate } from 'node:crypto';
import { createCertificateAuthority } from '@bowline/machinery';
import { beforeAll, describe, expect, it } from 'vitest';
import { authorityFrom, type CertificateState } from './certificate-state.ts';
import { issueLeaf, type LeafRequest } from './issue-leaf.ts';
import type { Authority } from './pem.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = Date.UTC(2030, 0, 1);
const server: LeafRequest = { names: ['a.ns.agent'], usages: ['server'] };
let one: Authority;
let two: Authority;

beforeAll(async () => {
  const create = async (commonName: string): Promise<Authority> =>
    authorityFrom(await createCertificateAuthority({ commonName, validForMs: 365 * DAY_MS, now: NOW }));
  [one, two] = await Promise.all([create('one'), create('two')]);
});

const stateOf = (more: Partial<CertificateState> = {}): CertificateState => ({
  leaf: undefined,
  current: one,
  next: undefined,
  previous: [],
  previousUntil: undefined,
  ...more,
});
const issue = (
  existing: { readonly data: Record<string, string> } | undefined,
  {
    now = NOW,
    state = stateOf(),
    request = server,
  }: { now?: number; state?: CertificateState; request?: LeafRequest } = {},
) => issueLeaf(state, existing, { ...request, validForMs: 90 * DAY_MS }, now);
const text = (data: Readonly<Record<string, string>>, key: string): string =>
  Buffer.from(data[key] ?? '', 'base64').toString('utf8');

describe('issueLeaf', () => {
  it('issues a certificate for the names and usages, with the CAs to trust and without the key of one', async () => {
    const { data, checkAt } = await issue(undefined, { state: stateOf({ next: two }) });
    const leaf = new X509Certificate(text(data, 'tls.crt'));
    expect([leaf.subjectAltName, leaf.subject]).toEqual(['DNS:a.ns.agent', 'CN=a.ns.agent']);
    expect(leaf.verify(one.certificate.publicKey)).toBe(true);
    expect(text(data, 'ca.crt')).toBe(one.certificatePem + two.certificatePem);
    expect(Object.keys(data)).toEqual(['tls.crt', 'tls.key', 'ca.crt']);
    expect(checkAt).toBe(NOW + 60 * DAY_MS);
  });

  it('keeps the certificate until a third of its lifetime is left', async () => {
    const first = await issue(undefined);
    const kept = await issue(first, { now: NOW + 60 * DAY_MS - 1 });
    expect(kept).toEqual({ ...first, reason: undefined });
    const renewed = await issue(first, { now: NOW + 60 * DAY_MS });
    expect(renewed.data['tls.crt']).not.toBe(first.data['tls.crt']);
    expect(renewed.reason).toContain('a third');
  });

  it.each<[string, LeafRequest]>([
    ['another name', { ...server, names: ['b.ns.agent'] }],
    ['one name more', { ...server, names: ['a.ns.agent', '10.0.0.1'] }],
    ['another usage', { ...server, usages: ['client'] }],
  ])('issues another certificate for %s', async (_, request) => {
    const first = await issue(undefined);
    expect((await issue(first, { request })).reason).toBeDefined();
  });

  it('issues another certificate for fewer names', async () => {
    const first = await issue(undefined, { request: { ...server, names: ['a.ns.agent', 'b.ns.agent'] } });
    expect((await issue(first)).reason).toBe('the certificate is valid for other names too');
  });

  it('issues another certificate once its CA was replaced, and updates only the CAs before', async () => {
    const first = await issue(undefined);
    const introduced = await issue(first, { state: stateOf({ next: two }) });
    expect(introduced.reason).toBeUndefined();
    expect(introduced.data['tls.crt']).toBe(first.data['tls.crt']);
    expect(introduced.data['ca.crt']).not.toBe(first.data['ca.crt']);
    const promoted = await issue(introduced, { state: stateOf({ current: two, previous: [one] }) });
    expect(promoted.reason).toBe('its CA was replaced');
    expect(new X509Certificate(text(promoted.data, 'tls.crt')).verify(two.certificate.publicKey)).toBe(true);
  });

  it('replaces damaged content and certificates of others', async () => {
    const first = await issue(undefined);
    expect((await issue({ data: { ...first.data, 'tls.key': 'eA==' } })).reason).toBe('there is no certificate');
    const foreign = await issue(undefined, { state: stateOf({ current: two }) });
    expect((await issue(foreign)).reason).toBe('its CA is missing or has expired');
  });

  it('without the key of the CA, keeps valid certificates and issues none', async () => {
    const first = await issue(undefined);
    const state = stateOf({ current: undefined, previous: [{ ...one, keyPem: undefined }] });
    expect((await issue(first, { state })).data).toEqual(first.data);
    await expect(issue(undefined, { state })).rejects.toMatchObject({
      code: 'BOWLINE_CERTIFICATE_AUTHORITY_UNAVAILABLE',
      retryable: true,
    });
  });
});
