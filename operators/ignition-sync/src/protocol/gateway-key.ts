/** What must not occur in a key of a ConfigMap. */
const NOT_ALLOWED = /[^-._a-zA-Z0-9]/g;
const MAX_KEY_LENGTH = 253;

/** gatewayKey returns the key of a ConfigMap for the name of a gateway. Different names may have the same key. */
export function gatewayKey(name: string): string {
  const key = name.replace(NOT_ALLOWED, '_').slice(0, MAX_KEY_LENGTH);
  // `.`, `..` and keys that begin with `..` are refused by the API server.
  return key.startsWith('.') ? `_${key.slice(1)}` : key;
}
