import type { PriorityClass } from '@bowline/kubernetes';
import type { Storage } from '../storage/storage.ts';
import { keyIn, objectOf } from '../storage/stored.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { refuse } from './admission.ts';
import { type MutablePodSpec, podSpecOf } from './service-account.ts';

const CLASSES = 'priorityclasses.scheduling.k8s.io';
const PREEMPTS = 'PreemptLowerPriority';

/** podPriority sets the priority of every Pod from its priority class, and allows at most one default class. */
export function podPriority(storage: Storage): AdmissionPlugin {
  return {
    name: 'Priority',
    mutate(request) {
      const { operation, object, old } = request;
      const spec = podSpecOf(request, object);
      if (!spec) return;
      if (operation === 'CREATE') prioritise(storage, request, spec);
      if (operation !== 'UPDATE') return;
      const before = podSpecOf(request, old);
      // Older clients do not know these fields and omit them.
      spec.priority ??= before?.priority;
      spec.preemptionPolicy ??= before?.preemptionPolicy;
    },
    validate(request) {
      const { resource, operation, object } = request;
      if (resource.collection !== CLASSES || (operation !== 'CREATE' && operation !== 'UPDATE')) return;
      if ((object as Partial<PriorityClass> | undefined)?.globalDefault !== true) return;
      const other = classes(storage).find(({ metadata, globalDefault }) => {
        return globalDefault === true && metadata?.name !== object?.metadata.name;
      })?.metadata?.name;
      if (other === undefined) return;
      throw refuse(request, `PriorityClass ${other} is already marked as default. Only one default can exist`);
    },
  };
}

function prioritise(storage: Storage, request: AdmissionRequest, spec: MutablePodSpec): void {
  const found = spec.priorityClassName ? classNamed(storage, request, spec.priorityClassName) : defaultClass(storage);
  if (!spec.priorityClassName && found?.metadata?.name) spec.priorityClassName = found.metadata.name;
  const value = found?.value ?? 0;
  const policy = found?.preemptionPolicy ?? PREEMPTS;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refuse(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  spec.preemptionPolicy = policy;
}

function classNamed(storage: Storage, request: AdmissionRequest, name: string): PriorityClass {
  const stored = storage.get(CLASSES, keyIn('', name));
  if (!stored) throw refuse(request, `no PriorityClass with name ${name} was found`);
  return objectOf(stored) as PriorityClass;
}

/** defaultClass returns the default class with the lowest value: two may exist for a moment. */
function defaultClass(storage: Storage): PriorityClass | undefined {
  return classes(storage)
    .filter(({ globalDefault }) => globalDefault === true)
    .sort((a, b) => a.value - b.value)[0];
}

function classes(storage: Storage): PriorityClass[] {
  return Array.from(storage.select(CLASSES), (stored) => objectOf(stored) as PriorityClass);
}
