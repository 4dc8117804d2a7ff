/** subjects lists the programs of this suite. They are URLs, so that tools that move files find this list. */
export const subjects: readonly URL[] = [
  new URL('./subjects/bare-events.ts', import.meta.url),
  new URL('./subjects/bare-sync.ts', import.meta.url),
  new URL('../../support/subjects/bare-webhook.ts', import.meta.url),
  new URL('./subjects/bowline-children.ts', import.meta.url),
  new URL('./subjects/bowline-events.ts', import.meta.url),
  new URL('./subjects/bowline-idle.ts', import.meta.url),
  new URL('./subjects/bowline-latency.ts', import.meta.url),
  new URL('./subjects/bowline-no-op.ts', import.meta.url),
  new URL('./subjects/bowline-operator.ts', import.meta.url),
  new URL('./subjects/bowline-overhead.ts', import.meta.url),
  new URL('./subjects/bowline-sync.ts', import.meta.url),
  new URL('./subjects/bowline-webhook.ts', import.meta.url),
  new URL('../../support/subjects/nothing.ts', import.meta.url),
  new URL('./subjects/replay-server.ts', import.meta.url),
  new URL('../../support/subjects/webhook-caller.ts', import.meta.url),
  new URL('../../support/subjects/raw-writes.ts', import.meta.url),
];
