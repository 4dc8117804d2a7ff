import { apiVersionOf, type KubernetesObject, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { type Clock, customShape } from '@bowline/machinery';
import type { Client } from '../client/client.ts';
import { type ContentTools, ensureContent } from '../content/ensure-content.ts';
import { releaseContent } from '../content/release-content.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { OperatorIdentity } from '../identity/operator-identity.ts';
import type { Log } from '../observability/log.ts';
import type { Cause } from '../queue/cause.ts';
import type { QueueItem } from '../queue/queue-options.ts';
import { isCustomResource } from '../resource/custom-resource.ts';
import type { Deletion } from '../writing/deletion.ts';
import { type EventMessage, type EventReport, type EventSubject, referenceToSubject } from '../writing/event.ts';
import type { WriteCheck } from '../writing/guarded-create.ts';
import type { Lookup } from '../writing/write-client.ts';
import type { WriteMemo } from '../writing/write-memo.ts';
import { createWriter, type Writer } from '../writing/writer.ts';
import type { EnqueueOptions } from './context.ts';
import { type NameCheck, withCheckedNames } from './declared-names.ts';
import { type LiveClient, RecordingClient, type WriteRecorder } from './live-client.ts';
import type { Run } from './run.ts';
import type { CacheReads, SourceTypes } from './sources.ts';
import { StatusDraft } from './status-collector.ts';
import type { ContentVerbs } from './write-types.ts';

/** RunShared holds what all runs of a controller have in common. Its functions need no `this`. */
export interface RunShared {
  readonly reads: CacheReads<SourceTypes>;
  readonly clock: Clock;
  readonly deps: unknown;
  readonly client: Client;
  readonly recorder: WriteRecorder;
  readonly logOf: (run: Run) => Log;
  readonly enqueue: (key: ObjectKey | string, options?: EnqueueOptions) => void;
  /** The owner of the written fields. */
  readonly fieldManager: string;
  /** The identity of the operator. */
  readonly identity: OperatorIdentity;
  readonly lookup: Lookup;
  readonly writeMemo: WriteMemo;
  /** Rejects children outside the selectors that the controller declares. */
  readonly checkWrite: WriteCheck;
  /** Rejects names that the controller does not declare. */
  readonly checkName: NameCheck;
  readonly lookUpContent: ContentTools['lookUp'];
  /** Undefined for a keyed controller. */
  readonly primary: Resource | undefined;
  /** The kinds that `eventAbout` sends events about. */
  readonly reports: readonly Resource[];
}

/** RunContext is the context of one run. Expensive members (signal, log, live, writing) are created on first use. */
export class RunContext {
  readonly object: unknown;
  readonly key: ObjectKey | string;
  readonly deletion: Deletion | undefined;
  readonly causes: readonly Cause[];
  readonly attempt: number;
  readonly clock: Clock;
  readonly deps: unknown;
  readonly get: CacheReads<SourceTypes>['get'];
  readonly list: CacheReads<SourceTypes>['list'];
  readonly isServed: CacheReads<SourceTypes>['isServed'];
  readonly enqueue: RunShared['enqueue'];
  readonly #shared: RunShared;
  readonly #run: Run;
  readonly #messages: EventMessage[] = [];
  readonly #eventReports: EventReport[] = [];
  #log: Log | undefined;
  #live: RecordingClient | undefined;
  #writer: Writer | undefined;
  #draft: StatusDraft<object> | undefined;

  constructor(shared: RunShared, run: Run, key: ObjectKey | string, object: unknown, deletion?: Deletion) {
    this.#shared = shared;
    this.#run = run;
    this.object = object;
    this.key = key;
    this.deletion = deletion;
    this.causes = run.item.causes;
    this.attempt = run.item.failures + 1;
    this.clock = shared.clock;
    this.deps = shared.deps;
    this.get = shared.reads.get;
    this.list = shared.reads.list;
    this.isServed = shared.reads.isServed;
    this.enqueue = shared.enqueue;
  }

  /** item is the queue item of the run; for the code that runs the function. */
  get item(): QueueItem {
    return this.#run.item;
  }

  get fieldManager(): string {
    return this.#shared.fieldManager;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get log(): Log {
    this.#log ??= this.#shared.logOf(this.#run);
    return this.#log;
  }

  get live(): LiveClient {
    this.#live ??= new RecordingClient(
      this.#shared.client,
      this.#shared.recorder,
      this.#run.signal,
      this.#shared.fieldManager,
    );
    return this.#live;
  }

  get apply(): Writer['apply'] {
    return this.#writing().apply;
  }

  get createOnce(): Writer['createOnce'] {
    return this.#writing().createOnce;
  }

  /** ensure needs no `this`. */
  readonly ensure: ContentVerbs['ensure'] = async (content, key, desired, options) => {
    this.#shared.checkName('ensure', content.resource, key);
    return ensureContent(this.#contentTools(), content, key, desired, options);
  };

  /** release needs no `this`. */
  readonly release: ContentVerbs['release'] = async (content, view, options) => {
    this.#shared.checkName('release', content.resource, view);
    return releaseContent(this.#contentTools(), content, view, options);
  };

  get remove(): Writer['remove'] {
    return this.#writing().remove;
  }

  /** status returns the draft, in a form whose functions need no `this`. */
  get status(): Pick<StatusDraft<object>, 'condition' | 'removeCondition' | 'set'> {
    const { primary } = this.#shared;
    if (!primary || !isCustomResource(primary) || !primary.hasStatus) {
      throw new BowlineError(
        'BOWLINE_STATUS_UNDECLARED',
        `cannot write the status of a ${primary?.kind ?? 'key'}: the kind is defined without a status; add one to its defineResource`,
      );
    }
    const { draft } = this;
    return {
      condition: (type, status, reason, message) => draft.condition(type, status, reason, message),
      removeCondition: (type) => draft.removeCondition(type),
      set: (fields) => draft.set(fields),
    };
  }

  /** event needs no `this`. */
  readonly event = (type: EventMessage['type'], reason: string, note: string): void => {
    this.#messages.push({ type, reason, note });
  };

  /** eventAbout needs no `this`. */
  readonly eventAbout = (subject: EventSubject, type: EventMessage['type'], reason: string, note: string): void => {
    const { apiVersion, kind } = subject;
    if (!this.#shared.reports.some((known) => known.kind === kind && apiVersionOf(known) === apiVersion)) {
      throw new BowlineError(
        'BOWLINE_EVENT_UNDECLARED',
        `cannot send an event about a ${kind} (${apiVersion}): the controller does not declare it; add .reports(${kind})`,
      );
    }
    this.#eventReports.push({ regarding: referenceToSubject(subject), message: { type, reason, note } });
  };

  /** hasWritten reports whether the run wrote anything, or attempted to. */
  get hasWritten(): boolean {
    return this.#live?.hasWritten ?? false;
  }

  /** draft holds what was set through `status`; for the code that writes it. */
  get draft(): StatusDraft<object> {
    this.#draft ??= new StatusDraft();
    return this.#draft;
  }

  /** messages returns the messages of `event`; for the code that sends them. */
  get messages(): readonly EventMessage[] {
    return this.#messages;
  }

  /** eventReports returns the reports of `eventAbout`; for the code that sends them. */
  get eventReports(): readonly EventReport[] {
    return this.#eventReports;
  }

  #contentTools(): ContentTools {
    const { live, clock, fieldManager, signal } = this;
    return { live, clock, fieldManager, signal, lookUp: this.#shared.lookUpContent };
  }

  #writing(): Writer {
    if (this.#writer) return this.#writer;
    const { primary, fieldManager, lookup, writeMemo, checkWrite, checkName } = this.#shared;
    const object = this.object as KubernetesObject | undefined;
    const writer = createWriter({
      client: this.live,
      fieldManager,
      lookup: this.deletion ? withoutAbsent(lookup) : lookup,
      writeMemo,
      // An object in a view without metadata cannot be an owner: a write must then pass labels.
      ownership: primary && object?.metadata?.uid ? { owner: { resource: primary, object } } : {},
      shapeOf: (resource) => (isCustomResource(resource) ? customShape(resource.schema) : undefined),
      check: checkWrite,
      log: this.log,
      signal: this.#run.signal,
    });
    this.#writer = withCheckedNames(writer, checkName);
    return this.#writer;
  }
}

/**
 * An object that a cleanup considers gone stays behind permanently, because no event enqueues it again: that it is
 * missing in the cache, perhaps only for now, is not enough.
 */
function withoutAbsent(lookup: Lookup): Lookup {
  return (resource, key, desired) => {
    const cached = lookup(resource, key, desired);
    return cached?.object && cached;
  };
}
