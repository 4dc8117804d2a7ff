const nursery =
  "V8's nursery grows to its default of 16 MB twice while the cache fills; the bare loop shows the same, and the row with a small heap, which is how `runUntilSignal` runs an operator, shows what remains without it";

const cold =
  'just after the start more than half of the processor time per write goes into compiling, and into code that V8 has not compiled yet; the same again, in the same process, shows what remains';
const layers =
  "a write costs two to three times the processor time of one from the bare loop: the answer is parsed and put through the view, the watch shows the same object again, and a fifth is V8's garbage collection";

const firstSecrets =
  'from the start of the operator: a third of its processor time goes into connecting, listing, loading the AWS SDK and its first hundred calls, before the first Secret is written; a create costs the operator twice what it costs the bare loop, most of it in code that V8 has not compiled yet; and the answer, the watch and the run that follows show every Secret again';
const promoted =
  'about 25 MB live, code included, and 56 MB are Node and what it links; the rest is what two dozen requests in flight leave in the old generation, which V8 collects when it has doubled';

/** Every way in which a fan-out is judged has the same reasons. */
function fanOut(name: string, rivals: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ['create', 'update'].flatMap((phase) =>
      rivals.flatMap((rival) => [
        [`${name}-${phase}-first-${rival}`, cold],
        [`${name}-${phase}-again-${rival}`, layers],
      ]),
    ),
  );
}

/**
 * reasons says, per target, what a profile showed to cost too much; printed only where the target was missed. An entry is
 * removed when its cause is.
 */
const reasons: Readonly<Record<string, string>> = {
  'cold-sync-time': 'each network chunk of about 4 kB costs one turn of two async generators',
  'cold-sync-peak-go': nursery,
  'cold-sync-peak-client-node': nursery,
  'ready-in-process':
    'about a third of that is V8 reading 1.3 MB of code, most of it the client, the schemas and the rules of the built-in kinds',
  'first-sync-raw': firstSecrets,
  'first-sync-memory': promoted,
  ...fanOut('children', ['apply', 'ensure']),
  ...fanOut('sync', ['raw', 'go']),
};

/** whyMissed is the known reason why this target is missed. */
export function whyMissed(target: string): string | undefined {
  return reasons[target];
}
