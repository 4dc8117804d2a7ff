import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { GitError } from '../errors/git-error.ts';

/** The clock of GitHub may be behind ours. */
const ISSUED_BEFORE_S = 60;
/** GitHub accepts at most 10 minutes. */
const VALID_FOR_S = 600;

/** appAssertion returns the JSON Web Token (RS256) by which a GitHub App proves its identity. The key is PKCS #1 or PKCS #8. */
export function appAssertion(app: { readonly appId: number; readonly privateKey: string }, nowMs: number): string {
  const nowS = Math.floor(nowMs / 1_000);
  const header = encode({ alg: 'RS256', typ: 'JWT' });
  const claims = encode({ iat: nowS - ISSUED_BEFORE_S, exp: nowS + VALID_FOR_S, iss: String(app.appId) });
  const signature = sign('sha256', Buffer.from(`${header}.${claims}`), loadKey(app.privateKey));
  return `${header}.${claims}.${signature.toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function loadKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // The error of OpenSSL could contain parts of the key.
  }
  throw new GitError('AuthenticationFailed', 'the private key of the GitHub App is not an RSA key in PEM format', {
    remedy: 'store the key that GitHub generated in the Secret of git.auth.githubApp',
  });
}
