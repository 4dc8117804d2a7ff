/** subjects lists the programs of this suite. They are URLs, so that tools that move files find this list. */
export const subjects: readonly URL[] = [
  new URL('./subjects/agent-reader.ts', import.meta.url),
  new URL('./subjects/bare-pkcs11.ts', import.meta.url),
  new URL('./subjects/bare-pod-watch.ts', import.meta.url),
  new URL('./subjects/bowline-hsm.ts', import.meta.url),
  new URL('./subjects/hsm-agent.ts', import.meta.url),
  new URL('./subjects/local-token.ts', import.meta.url),
  new URL('../../support/subjects/nothing.ts', import.meta.url),
  new URL('../../support/subjects/raw-requests.ts', import.meta.url),
  new URL('../../support/subjects/raw-writes.ts', import.meta.url),
];
