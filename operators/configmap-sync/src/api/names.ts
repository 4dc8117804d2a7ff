/** GROUP is the API group of the kinds; its labels, annotations and the finalizer begin with it. They are API. */
export const GROUP = 'sync.bowline.dev';
