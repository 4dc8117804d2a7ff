import { expect, test } from 'vitest';
import { connectError, TransportError } from './transport-error.ts';

const endpoint = { server: 'https://api:6443', source: 'context "x" of /config' };

test.each([
  ['ENOTFOUND', 'BOWLINE_TRANSPORT_UNREACHABLE', 'the host name is unknown', true],
  ['EAI_AGAIN', 'BOWLINE_TRANSPORT_UNREACHABLE', 'the name server does not respond', true],
  ['EHOSTUNREACH', 'BOWLINE_TRANSPORT_UNREACHABLE', 'there is no route to the host', true],
  ['EMFILE', 'BOWLINE_TRANSPORT_UNREACHABLE', '(EMFILE)', true],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'BOWLINE_TRANSPORT_TLS_UNTRUSTED', 'check certificate-authority', false],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'BOWLINE_TRANSPORT_TLS', 'check that the server speaks TLS', false],
  ['EPROTO', 'BOWLINE_TRANSPORT_TLS', 'check that the server speaks TLS', false],
])('explains %s and how to fix it', (code, expected, text, retryable) => {
  const cause = Object.assign(new Error('low-level'), { code });
  const error = connectError(cause, endpoint);
  expect(error).toMatchObject({ code: expected, retryable, mayHaveBeenProcessed: false, cause });
  expect(error.message).toContain('https://api:6443 (context "x" of /config)');
  expect(error.message).toContain(text);
});

test('returns a TransportError unchanged', () => {
  const error = new TransportError('BOWLINE_TRANSPORT_PROXY', 'the proxy');
  expect(connectError(error, endpoint)).toBe(error);
});
