import { apiVersionOf, type ValidatingAdmissionPolicy } from '@bowline/kubernetes';
import type { Clock } from '@bowline/machinery';
import type { FieldTracking } from '../../fields/field-tracking.ts';
import { draftOf } from '../../printing/render.ts';
import { loadCelEngine } from '../../registry/kinds/admissionregistration/cel-engine.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Storage } from '../../storage/storage.ts';
import { objectOf, type Stored } from '../../storage/stored.ts';
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
  const update = async (stored: Stored): Promise<void> => {
    // The engine is large: policies of an earlier start need it only when a write matches them.
    if (isObserved(stored)) return;
    // Asynchronous: all watchers must see the write of the policy before they see the status update.
    await loadCelEngine();
    if (!isStopped) writeStatus(options, stored.key);
  };
  const watch = storage.watch(POLICIES, ({ current }) => {
    if (current) update(current).catch(onError);
  });
  for (const stored of storage.select(POLICIES)) update(stored).catch(onError);
  return {
    [Symbol.dispose]() {
      isStopped = true;
      watch[Symbol.dispose]();
    },
  };
}

/** isObserved reports whether the status is that of the current spec. */
function isObserved(stored: Stored): boolean {
  const { metadata, status } = objectOf(stored) as ValidatingAdmissionPolicy;
  return (metadata?.generation ?? 0) <= (status?.observedGeneration ?? 0);
}

function writeStatus({ storage, registry, fields, clock }: PolicyStatusOptions, key: string): void {
  const stored = storage.get(POLICIES, key);
  const resource = registry.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies');
  if (!stored || !resource || isObserved(stored)) return;
  const old = draftOf(stored);
  const { metadata, spec = {} } = old as ValidatingAdmissionPolicy;
  const warnings = checkTypes(spec, registry);
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
  const applied = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: metadata?.name },
    status: { observedGeneration: metadata?.generation, typeChecking },
  };
  const writer = { manager: MANAGER, subresource: 'status', now: clock.now(), force: true };
  storage.update(POLICIES, key, stored.revision, fields.apply(resource, old, applied, writer));
}
