import { expect, it } from 'vitest';
import { fingerprints, pinnedLines } from './host-keys.ts';

// The key and its fingerprint are those that GitHub publishes.
const KEY = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
const FINGERPRINT = 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU';
const LINE = `github.com ssh-ed25519 ${KEY}`;

it('computes fingerprints as OpenSSH displays them, each once', () => {
  expect(fingerprints([LINE, `[github.com]:22 ssh-ed25519 ${KEY} comment`, '# comment', ''])).toEqual([FINGERPRINT]);
});

it.each([
  ['a pinned key', LINE, [FINGERPRINT], [LINE]],
  ['a key that is not pinned', LINE, ['SHA256:other'], undefined],
  ['a further key that is not pinned', `${LINE}\nother ssh-ed25519 AAAA`, [FINGERPRINT], undefined],
  [
    'a certificate authority, which would accept any key',
    `${LINE}\n@cert-authority * ssh-ed25519 ${KEY}`,
    [FINGERPRINT],
    undefined,
  ],
  ['nothing', '', [FINGERPRINT], undefined],
  ['a missing value', undefined, [FINGERPRINT], undefined],
])('uses lines of a ConfigMap only if all are pinned: %s', (_, text, pinned, expected) => {
  expect(pinnedLines(text, pinned)).toEqual(expected);
});
