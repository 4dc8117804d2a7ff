import { isSameJson } from '@bowline/machinery';
import { ANNOTATIONS } from '../../../operators/ztwim/src/api/names.ts';
import { OPERAND_KINDS, type OperandKind } from '../../../operators/ztwim/src/api/operand-kinds.ts';
import type { SharedObjects } from '../../../operators/ztwim/src/operand/shared-objects.ts';
import { copyIn } from '../../../operators/ztwim/src/resolve/copies.ts';
import {
  SHARED_FIELDS,
  type SharedField,
  type SharingKind,
} from '../../../operators/ztwim/src/resolve/shared-config.ts';
import { nextHistory, readHistory, writeHistory } from '../../../operators/ztwim/src/spire/identity-history.ts';
import { causesOf, valuesToRender } from './controllers.ts';
import {
  annotated,
  type Content,
  isDeleted,
  type Kind,
  NAMESPACE,
  NOTHING,
  newObject,
  PARENT,
  type Stored,
  storedIn,
  withStored,
} from './five-objects.ts';
import type { Admission, Event } from './random-case.ts';
import type { Subject } from './subject.ts';

/** Request is a request about one of the five objects that admission reviewed. */
export interface Request {
  readonly kind: Kind;
  readonly admission: Admission;
  /** The five objects before the request. */
  readonly before: SharedObjects;
  /** As the user sent it. */
  readonly sent: SharedObjects;
  /** As it is stored if it is accepted: with the values that it inherits. */
  readonly after: SharedObjects;
  /** The fields for which it was refused, with the reason; none if it was accepted. */
  readonly problems: readonly { readonly field: string; readonly reason: string }[];
}

/** Write is a write of the operator into an operand. */
export interface Write {
  readonly kind: OperandKind;
  readonly before: SharedObjects;
  readonly after: SharedObjects;
}

/** Step is what an event caused. */
export interface Step {
  readonly request?: Request | undefined;
  readonly writes: readonly Write[];
}

const NO_STEP: Step = { writes: [] };

/**
 * Model is an API server with the five objects, the webhooks and the controller that writes into operands. It owns fields
 * like server-side apply: those that the controller no longer applies disappear, unless someone else changed them.
 */
export class Model {
  readonly #subject: Subject;
  readonly #versions: SharedObjects[] = [NOTHING];
  readonly #owned = new Map<Kind, Owners>();

  constructor(subject: Subject, objects: SharedObjects = NOTHING) {
    this.#subject = subject;
    this.#versions.push(objects);
  }

  get objects(): SharedObjects {
    return this.#cached(0);
  }

  play(event: Event): Step {
    switch (event.type) {
      case 'create':
        return this.create(event.kind, event.content, event.admission);
      case 'change':
        return this.#change(event);
      case 'annotate': {
        const object = storedIn(this.objects, event.kind);
        if (object && event.kind !== PARENT) this.#store(event.kind, annotated(object, event.annotations));
        return NO_STEP;
      }
      case 'delete': {
        const object = storedIn(this.objects, event.kind);
        const metadata = { ...object?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
        if (object) this.#store(event.kind, { ...object, metadata });
        return NO_STEP;
      }
      case 'remove':
        this.remove(event.kind);
        return NO_STEP;
      case 'run':
        return { writes: this.run(OPERAND_KINDS.slice(0, event.operands), event.lag) };
      case 'render':
        this.#render();
        return NO_STEP;
    }
  }

  create(kind: Kind, content: Content, admission: Admission): Step {
    if (storedIn(this.objects, kind)) return NO_STEP;
    return this.#request(kind, newObject(kind, content), admission);
  }

  remove(kind: Kind): void {
    this.#store(kind, undefined);
  }

  /** run writes into operands what they inherit, and returns the writes. */
  run(kinds: readonly OperandKind[], lag = 0): readonly Write[] {
    const cached = this.#cached(lag);
    if (!cached.parent || isDeleted(cached.parent)) return [];
    return kinds.flatMap((kind) => {
      const { resolve, pendingInheritance } = this.#subject;
      const pending = ({ parent, operands }: SharedObjects) => {
        const operand = operands[kind];
        return parent && operand && pendingInheritance(resolve(parent, operands), kind, operand);
      };
      if (!pending(cached)) return [];
      // Both objects are read again before the operand is written.
      const { parent, operands } = this.objects;
      const inheritance = pending({ parent, operands: { ...cached.operands, [kind]: operands[kind] } });
      return inheritance ? [this.#apply(kind, inheritance)] : [];
    });
  }

  #apply(kind: OperandKind, { spec, annotation }: NonNullable<ReturnType<Subject['pendingInheritance']>>): Write {
    const before = this.objects;
    const operand = before.operands[kind];
    if (!operand) throw new Error(`there is no ${kind}`);
    const names = new Set(Object.keys(spec) as SharedField[]);
    const { operator, users } = this.#owners(kind);
    const dropped = [...operator].filter((field) => !names.has(field) && !users.has(field));
    const removed = Object.fromEntries(dropped.map((field) => [field, undefined]));
    const written: object = { ...operand, spec: { ...operand.spec, ...removed, ...spec } };
    // A field belongs to its users as long as its value is theirs.
    const kept = [...users].filter((field) => !names.has(field) || copyIn(operand, field) === spec[field]);
    this.#store(kind, annotated(written as Stored, { [ANNOTATIONS.inherited]: annotation }), {
      operator: names,
      users: new Set(kept),
    });
    return { kind, before, after: this.objects };
  }

  #owners(kind: Kind): Owners {
    return this.#owned.get(kind) ?? { operator: new Set(), users: new Set() };
  }

  #change({ kind, values, other, policy, admission }: Extract<Event, { type: 'change' }>): Step {
    const object = storedIn(this.objects, kind);
    if (!object) return NO_STEP;
    const { bundleConfigMap } = values;
    const old: Readonly<Record<string, unknown>> = { ...object.spec };
    const spec = {
      ...old,
      ...Object.fromEntries(Object.entries(values).map(([field, value]) => [field, value ?? undefined])),
      // Only one of both fields may be set.
      ...(bundleConfigMap !== undefined && kind === PARENT && { bundleConfig: undefined }),
      ...(other !== undefined && { labels: { team: other } }),
      ...(policy && { identityChangePolicy: policy }),
    };
    const changed: object = { ...object, spec };
    return this.#request(kind, changed as Stored, admission);
  }

  #request(kind: Kind, object: Stored, admission: Admission): Step {
    const before = this.objects;
    const old = storedIn(before, kind);
    const sent = withStored(before, kind, object);
    const isReviewed = admission.isActive && !isDeleted(object) && !isSameJson(old?.spec, object.spec);
    if (!isReviewed) {
      this.#store(kind, object);
      return NO_STEP;
    }
    const cached = this.#cached(admission.lag);
    const mutated = this.#mutate(kind, object, cached);
    const after = withStored(before, kind, mutated);
    const isDoubted = this.#review(kind, old, mutated, cached).isDoubtful;
    const problems = isDoubted ? this.#review(kind, old, mutated, before).problems : [];
    if (problems.length === 0) this.#store(kind, mutated);
    return { request: { kind, admission, before, sent, after, problems }, writes: [] };
  }

  #mutate(kind: Kind, object: Stored, cached: SharedObjects): Stored {
    if (kind === PARENT || kind === 'SpiffeCSIDriver') return object;
    return this.#subject.inherit<SharingKind>(kind, object as never, cached);
  }

  #review(kind: Kind, before: Stored | undefined, after: Stored, objects: SharedObjects) {
    const change = { before, after } as never;
    const { problems, warnings } =
      kind === PARENT
        ? this.#subject.reviewConfig(change, objects.operands, NAMESPACE)
        : this.#subject.reviewOperand(kind, change, objects);
    return { problems, isDoubtful: problems.length + warnings.length > 0 };
  }

  /** The server records what it renders, if it renders. */
  #render(): void {
    const { SpireServer: server } = this.objects.operands;
    const values = valuesToRender(this.objects, this.#subject);
    if (!server || isDeleted(server) || !values || causesOf(this.objects, this.#subject).length > 0) return;
    const history = nextHistory(readHistory(server.metadata?.annotations?.[ANNOTATIONS.history]), values);
    this.#store('SpireServer', annotated(server, { [ANNOTATIONS.history]: writeHistory(history) }));
  }

  #cached(lag: number): SharedObjects {
    return this.#versions.at(-1 - lag) ?? NOTHING;
  }

  #store(kind: Kind, object: Stored | undefined, owners = this.#ownersAfter(kind, object)): void {
    this.#owned.set(kind, owners);
    this.#versions.push(withStored(this.objects, kind, object));
  }

  /** A field that a user changes belongs to users alone. */
  #ownersAfter(kind: Kind, object: Stored | undefined): Owners {
    const { operator, users } = this.#owners(kind);
    const before = storedIn(this.objects, kind);
    const copies = SHARED_FIELDS.filter((field) => object && copyIn(object, field) !== undefined);
    const changed = copies.filter((field) => !before || copyIn(before, field) !== (object && copyIn(object, field)));
    return {
      operator: new Set(copies.filter((field) => operator.has(field) && !changed.includes(field))),
      users: new Set(copies.filter((field) => users.has(field) || changed.includes(field))),
    };
  }
}

/** Owners are who owns the fields of an operand with shared values. */
interface Owners {
  readonly operator: ReadonlySet<SharedField>;
  readonly users: ReadonlySet<SharedField>;
}
