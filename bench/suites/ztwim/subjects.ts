/** subjects lists the programs of this suite. They are URLs, so that tools that move files find this list. */
export const subjects: readonly URL[] = [
  new URL('./subjects/bare-cascade.ts', import.meta.url),
  new URL('./subjects/bowline-ztwim.ts', import.meta.url),
  new URL('../runtime/subjects/bowline-idle.ts', import.meta.url),
  new URL('../../support/subjects/bare-webhook.ts', import.meta.url),
  new URL('../../support/subjects/raw-requests.ts', import.meta.url),
  new URL('../../support/subjects/webhook-caller.ts', import.meta.url),
];
