/** SecretTypeRule describes what the API server requires of the content of Secrets of one type. */
interface SecretTypeRule {
  /** Keys that are all required. */
  readonly all?: readonly string[];
  /** Keys of which at least one is required. */
  readonly any?: readonly string[];
}

const RULES: ReadonlyMap<string, SecretTypeRule> = new Map([
  ['kubernetes.io/basic-auth', { any: ['username', 'password'] }],
  ['kubernetes.io/dockercfg', { all: ['.dockercfg'] }],
  ['kubernetes.io/dockerconfigjson', { all: ['.dockerconfigjson'] }],
  ['kubernetes.io/ssh-auth', { all: ['ssh-privatekey'] }],
  ['kubernetes.io/tls', { all: ['tls.crt', 'tls.key'] }],
]);

/** Types with a special meaning to the cluster. A user who may only create pods must not be able to use them. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/service-account-token', 'Secrets of this type are filled by the cluster itself'],
  ['bootstrap.kubernetes.io/token', 'Secrets of this type hold credentials that grant access to the cluster'],
]);

/** reservedType returns why we may not create Secrets of a type, or undefined if we may. */
export function reservedType(type: string): string | undefined {
  return RESERVED.get(type);
}

/**
 * missingForType returns the keys that a Secret of a type lacks: `the keys "tls.crt" and "tls.key"`. Undefined if none.
 */
export function missingForType(type: string, has: (key: string) => boolean): string | undefined {
  const { all = [], any = [] } = RULES.get(type) ?? {};
  const missing = all.filter((key) => !has(key)).map((key) => JSON.stringify(key));
  if (missing.length > 0) return `the key${missing.length > 1 ? 's' : ''} ${missing.join(' and ')}`;
  if (any.length === 0 || any.some(has)) return undefined;
  return `at least one of the keys ${any.map((key) => JSON.stringify(key)).join(' and ')}`;
}

/** registryKey returns the key of a type whose value must be a JSON object with registry credentials. */
export function registryKey(type: string): string | undefined {
  const isRegistry = type === 'kubernetes.io/dockercfg' || type === 'kubernetes.io/dockerconfigjson';
  return isRegistry ? RULES.get(type)?.all?.[0] : undefined;
}
