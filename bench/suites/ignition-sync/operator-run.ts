import { systemRandom } from '@bowline/machinery';
import { freePorts } from '../../../packages/control-plane/src/ports.ts';
import { startSubject, subjectArguments } from '../../support/run-subject.ts';
import { HMAC_SECRET, type IgnitionScene } from './scene.ts';

const timeoutMs = 120_000;

/**
 * operatorConfig returns the operator's configuration. The webhook that reviews authors is not installed, because no author is
 * untrusted here, and more webhooks of Git servers are sent than usual.
 */
export function operatorConfig(webhookReceiverPort: number): object {
  return {
    webhookReceiverPort,
    webhookReceiverHost: '127.0.0.1',
    trustAllAuthors: true,
    webhookRateLimit: 100_000,
    agentImage: 'example.test/bowline:1',
  };
}

/** RunningIgnitionSync is the operator in a separate process. */
export interface RunningIgnitionSync extends AsyncDisposable {
  /** The port of the receiver. */
  readonly receiverPort: number;
  /** settled waits until no work is left. */
  settled(): Promise<void>;
  cpuMs(): number;
}

/** runIgnitionSync starts the operator and waits until it works: its caches are synced, and it holds the Lease. */
export async function runIgnitionSync(scene: IgnitionScene): Promise<RunningIgnitionSync> {
  const { kubeconfig } = scene.known;
  if (kubeconfig === undefined) throw new Error('the operator is not installed yet');
  const [receiverPort = 0] = await freePorts(1, systemRandom);
  const config = JSON.stringify(operatorConfig(receiverPort));
  const running = await startSubject({
    command: scene.command('bowline-ignition-sync'),
    args: subjectArguments({ ...scene, kubeconfig }, { config, hmac: HMAC_SECRET }),
  });
  return {
    receiverPort,
    async settled() {
      running.send('settle');
      await running.next(timeoutMs);
    },
    cpuMs: () => running.cpuMs(),
    [Symbol.asyncDispose]: () => running.release(),
  };
}
