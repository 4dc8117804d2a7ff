/** MOST_CONTENT_BYTES is how much the API server lets the values of a ConfigMap or Secret hold together; keys are not counted. */
export const MOST_CONTENT_BYTES = 1_048_576;
