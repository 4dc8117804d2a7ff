const MOST_KEY_CHARACTERS = 253;
const KEY = /^[-._a-zA-Z0-9]+$/;

/** contentKeyProblem says what the API server would find wrong with a key of a ConfigMap or Secret; undefined when nothing is. */
export function contentKeyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty';
  if (key.length > MOST_KEY_CHARACTERS) return `must have at most ${MOST_KEY_CHARACTERS} characters`;
  if (!KEY.test(key)) return 'must consist of letters, digits, dashes, dots and underscores';
  // Kubelets keep the versions of a mounted ConfigMap or Secret in files that begin like that.
  if (key === '.' || key.startsWith('..')) return 'must not be a dot, or begin with two';
  return undefined;
}

/** MOST_CONTENT_BYTES is the API server's limit for the values of a ConfigMap or Secret together; keys do not count. */
export const MOST_CONTENT_BYTES = 1_048_576;
