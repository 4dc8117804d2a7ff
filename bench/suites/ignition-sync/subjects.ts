/** subjects lists the programs of this suite. They are URLs, so that tools that move files find this list. */
export const subjects: readonly URL[] = [
  new URL('./subjects/bowline-ignition-sync.ts', import.meta.url),
  new URL('./subjects/rollout-agents.ts', import.meta.url),
];
