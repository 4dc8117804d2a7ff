/** PAUSED_ANNOTATION, set to "true" on a primary object, makes the runtime leave that object alone until it is removed. */
export const PAUSED_ANNOTATION = 'bowline.dev/paused';
