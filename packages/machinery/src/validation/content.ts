const MAX_KEY_LENGTH = 253;
const KEY = /^[-._a-zA-Z0-9]+$/;

/**
 * contentKeyProblem returns the problem that the API server would report for a key of a ConfigMap or Secret; undefined
 * if it is valid.
 */
export function contentKeyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty';
  if (key.length > MAX_KEY_LENGTH) return `must have at most ${MAX_KEY_LENGTH} characters`;
  if (!KEY.test(key)) return 'must consist of letters, digits, dashes, dots and underscores';
  // Kubelets store the versions of a mounted ConfigMap or Secret in files with such names.
  if (key === '.' || key.startsWith('..')) return "must not be '.' or start with '..'";
  return undefined;
}

/** MAX_CONTENT_BYTES is the API server's limit for all values of a ConfigMap or Secret together; keys do not count. */
export const MAX_CONTENT_BYTES = 1_048_576;
