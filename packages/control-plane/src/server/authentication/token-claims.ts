/** ObjectClaim names an object that a token is bound to. */
export interface ObjectClaim {
  readonly name: string;
  readonly uid: string;
}

/** TokenClaims holds the claims of a ServiceAccount token. Times are in seconds. */
export interface TokenClaims {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly expiresAt: number;
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly id: string;
  readonly namespace: string;
  readonly serviceAccount: ObjectClaim;
  readonly pod?: ObjectClaim | undefined;
  readonly secret?: ObjectClaim | undefined;
  readonly node?: ObjectClaim | undefined;
  /** When to start warning that a token is used which should have been renewed. */
  readonly warnAfter?: number | undefined;
}

/** KUBERNETES_CLAIM is the claim that holds the Kubernetes-specific values. */
const KUBERNETES_CLAIM = 'kubernetes.io';

/** writeClaims returns the body of a token. */
export function writeClaims(claims: TokenClaims, subject: string): Readonly<Record<string, unknown>> {
  const { namespace, serviceAccount, pod, secret, node, warnAfter } = claims;
  return {
    aud: claims.audiences,
    exp: claims.expiresAt,
    iat: claims.issuedAt,
    iss: claims.issuer,
    jti: claims.id,
    [KUBERNETES_CLAIM]: { namespace, node, pod, secret, serviceaccount: serviceAccount, warnafter: warnAfter },
    nbf: claims.notBefore,
    sub: subject,
  };
}

/**
 * readClaims parses what `writeClaims` writes; it returns undefined for anything else. It sets no defaults for missing
 * claims.
 */
export function readClaims(body: Readonly<Record<string, unknown>>): TokenClaims | undefined {
  const { aud, exp, iat, iss, jti, nbf } = body;
  const own = recordOf(body[KUBERNETES_CLAIM]);
  const serviceAccount = objectClaim(own?.serviceaccount);
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (!own || !serviceAccount || !isStringList(audiences)) return undefined;
  if (typeof exp !== 'number' || typeof iat !== 'number' || typeof nbf !== 'number') return undefined;
  if (typeof iss !== 'string' || typeof jti !== 'string' || typeof own.namespace !== 'string') return undefined;
  const bound = { pod: objectClaim(own.pod), secret: objectClaim(own.secret), node: objectClaim(own.node) };
  // A bound object that cannot be parsed must not be ignored.
  if ((own.pod && !bound.pod) || (own.secret && !bound.secret) || (own.node && !bound.node)) return undefined;
  return {
    issuer: iss,
    audiences,
    expiresAt: exp,
    issuedAt: iat,
    notBefore: nbf,
    id: jti,
    namespace: own.namespace,
    serviceAccount,
    ...bound,
  };
}

function objectClaim(value: unknown): ObjectClaim | undefined {
  const { name, uid } = recordOf(value) ?? {};
  return typeof name === 'string' && typeof uid === 'string' ? { name, uid } : undefined;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
