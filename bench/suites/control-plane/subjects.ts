/** subjects lists the programs of this suite. They are URLs, so that tools that move files find this list. */
export const subjects: readonly URL[] = [
  new URL('../../support/subjects/raw-writes.ts', import.meta.url),
  new URL('./subjects/bare-fan-out.ts', import.meta.url),
  new URL('./subjects/bare-lists.ts', import.meta.url),
  new URL('./subjects/embedded-ready.ts', import.meta.url),
  new URL('./subjects/embedded-server.ts', import.meta.url),
  new URL('./subjects/embedded-writes.ts', import.meta.url),
];
