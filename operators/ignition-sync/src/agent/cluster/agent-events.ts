import type { Clock, Random } from '@bowline/machinery';
import type { Log, Metrics } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { EventRecorder, fieldManagerOf } from '@bowline/runtime/writing';
import { GROUP, OPERATOR, VERSION } from '../../api/names.ts';

/** AgentEvent is the reason of an event that agents record about their IgnitionSync. */
export type AgentEvent =
  | 'SyncCompleted'
  | 'SyncFailed'
  | 'SyncSkipped'
  | 'DesignerSessionsBlocked'
  | 'StartedWithLast'
  | 'RolledBack'
  | 'GatewayFilesModified'
  | 'ReplacedNotKept';

const WARNINGS: ReadonlySet<AgentEvent> = new Set([
  'SyncFailed',
  'DesignerSessionsBlocked',
  'StartedWithLast',
  'RolledBack',
  'GatewayFilesModified',
  'ReplacedNotKept',
]);

/** AgentEventsOptions configures what events are about, and who records them. */
export interface AgentEventsOptions {
  readonly client: Pick<Client, 'create' | 'patch'>;
  readonly namespace: string;
  readonly cr: string;
  /** The name of the pod. */
  readonly podName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Without the kind itself, whose schema an agent does not need in memory. */
const RESOURCE = {
  group: GROUP,
  version: VERSION,
  kind: 'IgnitionSync',
  plural: 'ignitionsyncs',
  scope: 'Namespaced',
  id: `IgnitionSync.${VERSION}.${GROUP}`,
} as const;

/** AgentEvents records events about the IgnitionSync of an agent. */
export class AgentEvents {
  readonly #options: AgentEventsOptions;
  readonly #recorder: EventRecorder;
  #uid: string | undefined;

  constructor(options: AgentEventsOptions) {
    this.#options = options;
    const { podName: instance, ...rest } = options;
    this.#recorder = new EventRecorder({ ...rest, controller: fieldManagerOf(OPERATOR, 'agent'), instance });
  }

  /** isAbout sets the uid of the IgnitionSync. Without it, an event could not be found by those who look for it. */
  isAbout(uid: string): void {
    this.#uid = uid;
  }

  /** record records an event, if it is known what it is about. It never fails. */
  record(reason: AgentEvent, note: string): void {
    if (this.#uid === undefined) return;
    const { namespace, cr: name } = this.#options;
    const type = WARNINGS.has(reason) ? 'Warning' : 'Normal';
    this.#recorder.record(
      RESOURCE,
      { metadata: { namespace, name, uid: this.#uid } },
      { type, reason, note, action: 'Sync' },
    );
  }

  /** run sends events until the signal is aborted, and those that wait then. */
  run(signal: AbortSignal): Promise<void> {
    return this.#recorder.run(signal);
  }
}
