const nursery =
  "V8's nursery grows to its default of 16 MB twice while the cache fills; the bare loop shows the same, and the row with a small heap, which is how `runUntilSignal` runs an operator, shows the remaining cost";

const cold =
  'just after the start more than half of the processor time per write goes into compiling, and into code that V8 has not compiled yet; the same again, in the same process, shows the remaining cost';
const layers =
  "a write costs two to three times the processor time of one from the bare loop: the response is parsed and converted to the view, the watch delivers the same object again, and a fifth is V8's garbage collection";

const firstSecrets =
  "about a quarter of the operator's processor time is spent before the first Secret is written: lists, annotations, the AWS SDK and its first calls; after that its one thread is busy, a tenth of it with V8's garbage collection, and no single step dominates";
const promoted =
  'of the peak about 25 MB are live on the heap, code included, and 56 MB are Node itself and outside of it; the rest is garbage in the old generation, which V8 collects when that has doubled, and which is proportional to the number of Secrets that are processed concurrently';

const largeStatus =
  'the control plane and the operator share the two cores, and the processor is the limit: for the same patches the API server uses 7.4 s of processor time instead of 4.7 s, because it also serves the watch and validates and stores about 17 versions of a status with up to 500 devices; the operator itself uses 1 s';
const fiveRequests =
  'the operator sends five requests for each Secret: it looks for a Secret of that name, creates it, sets its owner, and writes the status and an event of the HSMSecret; all but the last few of them are done when the last Secret exists';
const eachHeartbeat =
  'a third of it is reading and parsing the watch, which the bare watch does too; 14 % is parsing the report, which is untrusted input, 15 % the runs that record when each report was observed, and 6 % the cache with its indexes';
const threeProcesses =
  'agent and worker are idle for three quarters of the time: a read wakes caller, agent and worker in turn, six times; about 0.9 ms of it is the token layer, which lists the objects of the token before it reads';
const idleDiscovery =
  'besides Node itself it has the client of the API server, with HTTP/2 and TLS, and the schemas of its options and kinds, whose CEL rules alone are 0.5 MB of JavaScript: 15 MB of the heap are in use instead of 4 MB';
const idleAgent =
  'the worker has 48 MB and the agent 86 MB: besides the schemas of its options it has gRPC, with TLS and the protobuf library, which are 0.9 MB of JavaScript';
const installSteps =
  'the audit log has 65 requests for 32 objects: besides one write per object, finalizers, owners, dry runs, statuses and events. A trace of the requests of another install shows their order: the five objects are created one after the other, each with two calls of webhooks, and a workload is the last of six steps that wait for each other: finalizer, former names, dry run, files and accounts, bindings, workload. The bare loop sends everything at once; the API server and the operator share the two cores';
const loadedKinds =
  'a profile shows that the process is busy all the time: a fifth is V8 compiling the 2.6 MB of the bundle, then its garbage collection, TLS contexts of client and webhooks, and the checks of the schemas of five kinds with their rules and patterns; the idle manager has no kinds of its own and no webhooks';
const loadedCode =
  "Node itself has 41 MB, and with the code and the schemas of the five kinds loaded the process has 73 MB before it does anything; while it works, V8's old generation grows from 11 to 20 MB and compiled code by 2 MB, and no single owner dominates";
const podPages =
  'before the CSI driver is deleted, pods that mount it are searched for among all pods, in pages of 50: buffers and garbage of these pages are the difference';
const deletionSteps =
  'a trace of the requests shows four operands that are deleted one after the other, because consumers go first, each with a finalizer, a status, the deletion of its workload and then of its other objects; the API server and the operator share the two cores';

const firstPlacement =
  "a trace shows three phases: Node and the API server until the first request to Git, the fetch, which receives files in a second request after the trees, and staging. There the agent's one thread reads every file from git through a pipe, verifies its hash, checks the syntax of JSON and writes it, before a journal and the renames; rsync copies with two processes and checks nothing";
const processesPerCommit =
  'a trace of the processes shows the fetch of the commit and its trees, the list of all files of the commit, and for a changed file the fetch of its content with two checks of what is missing; in between the agent compares the files of the gateway, writes a journal and a manifest durably, and asks the gateway for sessions and a scan lock';
const sharedJitter =
  'polling intervals vary by a tenth, and the first of many IgnitionSyncs that is due polls for all of them: the source is queried at the shortest of their intervals, and that of a single one at the average interval';

/** All targets of a fan-out have the same reasons. */
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
 * reasons holds, per target, the cost that a profile showed; printed only if the target was missed. An entry is removed when its
 * cause is fixed.
 */
const reasons: Readonly<Record<string, string>> = {
  'cold-sync-time': 'each network chunk of about 4 kB costs one turn of two async generators',
  'cold-sync-peak-go': nursery,
  'cold-sync-peak-client-node': nursery,
  'first-sync-raw': firstSecrets,
  'first-sync-memory': promoted,
  'reports-raw': largeStatus,
  'heartbeats-cpu': eachHeartbeat,
  'secrets-raw': fiveRequests,
  'reads-pkcs11js': threeProcesses,
  'idle-discovery': idleDiscovery,
  'idle-agent': idleAgent,
  'install-first': installSteps,
  'install-again': installSteps,
  restart: loadedKinds,
  'deletion-own-p99': deletionSteps,
  'ztwim-memory': loadedCode,
  'memory-users': podPages,
  'plant-first-sync-clone': firstPlacement,
  'plant-first-sync-git-sync': firstPlacement,
  'one-file': processesPerCommit,
  'no-change': processesPerCommit,
  'shared-source': sharedJitter,
  ...fanOut('children', ['apply', 'ensure']),
  ...fanOut('sync', ['raw', 'go']),
};

/** whyMissed returns the known reason why this target is missed. */
export function whyMissed(target: string): string | undefined {
  return reasons[target];
}
