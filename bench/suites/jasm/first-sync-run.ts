import { startRawWriter } from '../../support/raw-writes.ts';
import { numberIn } from '../../support/run-subject.ts';
import { runJasm } from './jasm-run.ts';
import { ensurePods, podAt } from './pods.ts';
import { inFlight, type JasmScene } from './scene.ts';
import { clearSecrets, revision, watchSecrets } from './secrets.ts';

/** FirstSync is the cost of creating the Secrets of all pods. */
export interface FirstSync {
  /** Until the last Secret is observed. */
  readonly ms: number;
  /** Processor time of the writer until then; of the operator since its start, including loading. */
  readonly cpuMs: number;
  /** Values that only an operator has. */
  readonly operator?: {
    /** Calls to the store. */
    readonly calls: number;
    readonly peakMb: number;
    /** Until the events are sent too. */
    readonly settledMs: number;
    readonly droppedEvents: number;
  };
}

/** The revision of every source. */
export const initial = 'r1';

/** runFirstSync starts the operator while the given number of pods wait for their Secrets. */
export async function runFirstSync(scene: JasmScene, pods: number): Promise<FirstSync> {
  await ensurePods(scene, pods);
  const { aws } = scene;
  const callsBefore = aws.calls.length;
  try {
    using watch = await watchSecrets(scene);
    await using operator = await runJasm(scene);
    const ms = (await watch.reached(revision(initial), pods)) - operator.startedAt;
    const cpuMs = operator.cpuMs();
    const settled = await operator.settled(pods, pods);
    return {
      ms,
      cpuMs,
      operator: {
        calls: aws.calls.length - callsBefore,
        peakMb: operator.memory().peakMb,
        settledMs: settled.ms,
        droppedEvents: settled.droppedEvents,
      },
    };
  } finally {
    await clearSecrets(scene);
  }
}

/**
 * runRaw writes as many Secrets of the same size in the same namespaces, and nothing else. The harness watches them too, so that
 * the server and the machine have the same load.
 */
export async function runRaw(scene: JasmScene, pods: number): Promise<FirstSync> {
  const { secret } = scene.known;
  if (secret === undefined) throw new Error('no Secret was observed yet');
  const targets = Array.from({ length: pods }, (_, index) => {
    const { namespace, secretName } = podAt(index);
    return { namespace, suffix: `-${secretName}` };
  });
  try {
    using watch = await watchSecrets(scene);
    await using writer = await startRawWriter(scene, { targets, template: secret, inFlight, style: 'replace' });
    const report = await writer.write('create', 'raw', revision(initial));
    await watch.reached(revision(initial), pods);
    return { ms: numberIn(report, 'ms'), cpuMs: numberIn(report, 'cpuMs') };
  } finally {
    await clearSecrets(scene);
  }
}
