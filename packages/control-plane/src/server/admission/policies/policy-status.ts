import type { ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { FieldTracking } from '../../fields/field-tracking.ts';
import { draftOf } from '../../printing/render.ts';
import { loadCelEngine } from '../../registry/kinds/admissionregistration/cel-engine.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Storage } from '../../storage/storage.ts';
import { POLICIES } from './policy.ts';
import { checkTypes } from './type-check.ts';

/** The field manager of policy status in a real cluster. */
const MANAGER = 'validatingadmissionpolicy-status';

/** PolicyStatusOptions holds the dependencies of keepPolicyStatus. */
export interface PolicyStatusOptions {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly fields: FieldTracking;
  readonly clock: Clock;
  /** Receives errors that are bugs. */
  readonly onError: (error: unknown) => void;
}

/** keepPolicyStatus writes the result of type checking into the status of every new or changed policy. */
export function keepPolicyStatus(options: PolicyStatusOptions): Disposable {
  const { storage, onError } = options;
  let isStopped = false;
  const check = async (key: string): Promise<void> => {
    // Asynchronous: all watchers must see the write of the policy before they see the status update.
    await loadCelEngine();
    if (!isStopped) writeStatus(options, key);
  };
  const watch = storage.watch(POLICIES, ({ current }) => {
    if (current) check(current.key).catch(onError);
  });
  for (const { key } of storage.select(POLICIES)) check(key).catch(onError);
  return {
    [Symbol.dispose]() {
      isStopped = true;
      watch[Symbol.dispose]();
    },
  };
}

function writeStatus({ storage, registry, fields, clock }: PolicyStatusOptions, key: string): void {
  const stored = storage.get(POLICIES, key);
  const resource = registry.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies');
  if (!stored || !resource) return;
  const old = draftOf(stored);
  const { metadata, spec = {}, status } = old as ValidatingAdmissionPolicy;
  const generation = metadata?.generation ?? 0;
  if (generation <= (status?.observedGeneration ?? 0)) return;
  const warnings = checkTypes(spec, registry);
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
  const { apiVersion, kind, name } = {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    name: metadata?.name,
  };
  const applied = { apiVersion, kind, metadata: { name }, status: { observedGeneration: generation, typeChecking } };
  const writer = { manager: MANAGER, subresource: 'status', now: clock.now(), force: true };
  storage.update(POLICIES, key, stored.revision, fields.apply(resource, old, applied, writer));
}
