import type {
  MatchResources,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { Storage } from '../../storage/storage.ts';
import { objectOf } from '../../storage/stored.ts';
import { type MatchRules, namesResource } from '../matching/match-rules.ts';
import { type MatchSelectors, readSelector } from '../matching/selectors.ts';

const GROUP = 'admissionregistration.k8s.io';
/** POLICIES is the collection of ValidatingAdmissionPolicies. */
export const POLICIES = `validatingadmissionpolicies.${GROUP}`;
const BINDINGS = `validatingadmissionpolicybindings.${GROUP}`;

/** Match selects the requests of a policy or a binding. */
export interface Match extends MatchRules, MatchSelectors {
  readonly excludedRules: MatchRules;
}

/** Binding applies a policy to requests, with parameters. */
export interface Binding {
  readonly name: string;
  /** Undefined for all requests of the policy. */
  readonly match: Match | undefined;
  readonly paramRef: ParamRef | undefined;
  readonly actions: readonly string[];
}

/** Policy is a stored policy with at least one binding. */
export interface Policy {
  readonly name: string;
  readonly match: Match;
  readonly failsOpen: boolean;
  readonly spec: NonNullable<ValidatingAdmissionPolicy['spec']>;
  readonly bindings: readonly Binding[];
}

/**
 * PolicyIndex holds the policies that have bindings: they are read from storage once per change of either. Most writes
 * are of kinds that no policy names, and cost one lookup.
 */
export class PolicyIndex implements Disposable {
  readonly #storage: Storage;
  readonly #watches: readonly Disposable[];
  #policies: readonly Policy[] | undefined;
  #byResource = new WeakMap<ApiResource, readonly Policy[]>();

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#watches = [POLICIES, BINDINGS].map((collection) =>
      storage.watch(collection, () => {
        this.#policies = undefined;
        this.#byResource = new WeakMap();
      }),
    );
  }

  /** about returns the policies with a rule that names the resource, ordered by name; their bindings are, too. */
  about(resource: ApiResource): readonly Policy[] {
    const known = this.#byResource.get(resource);
    if (known) return known;
    this.#policies ??= readPolicies(this.#storage);
    const policies = this.#policies.filter(({ match }) => match.rules.some((rule) => namesResource(rule, resource)));
    this.#byResource.set(resource, policies);
    return policies;
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) watch[Symbol.dispose]();
  }
}

function readPolicies(storage: Storage): readonly Policy[] {
  const bindings = new Map<string, Binding[]>();
  for (const stored of storage.select(BINDINGS)) {
    const { metadata, spec = {} } = objectOf(stored) as ValidatingAdmissionPolicyBinding;
    const { policyName = '', matchResources, paramRef, validationActions = [] } = spec;
    const match = matchResources && matchOf(matchResources);
    const binding = { name: metadata?.name ?? '', match, paramRef, actions: validationActions };
    bindings.set(policyName, [...(bindings.get(policyName) ?? []), binding]);
  }
  const policies: Policy[] = [];
  for (const stored of storage.select(POLICIES)) {
    const { metadata, spec = {} } = objectOf(stored) as ValidatingAdmissionPolicy;
    const { name = '' } = metadata ?? {};
    const own = bindings.get(name);
    if (!own) continue;
    const match = matchOf(spec.matchConstraints ?? {});
    policies.push({ name, match, failsOpen: spec.failurePolicy === 'Ignore', spec, bindings: own });
  }
  return policies;
}

function matchOf({ resourceRules, excludeResourceRules, matchPolicy, ...selectors }: MatchResources): Match {
  const matchesEquivalents = matchPolicy !== 'Exact';
  return {
    rules: resourceRules ?? [],
    matchesEquivalents,
    excludedRules: { rules: excludeResourceRules ?? [], matchesEquivalents },
    namespaceSelector: readSelector(selectors.namespaceSelector),
    objectSelector: readSelector(selectors.objectSelector),
  };
}
