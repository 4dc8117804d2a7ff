import type { PolicyRule } from '@bowline/kubernetes';
import type { RbacManifest } from '@bowline/runtime/install';

/** Permission is one verb of one generated rule, for one of its names if it has several. */
export interface Permission {
  /** The index of the manifest that grants it. */
  readonly manifest: number;
  readonly rule: number;
  readonly verb: string;
  /** The index of the rule's name: the names themselves differ from test to test. */
  readonly name: number | undefined;
  /** A display text: `patch configmaps (ClusterRole)`. */
  readonly text: string;
  /**
   * Whether it is `get` in addition to `list`: listing already reads every object, so `get` grants nothing more, and no rule is
   * longer for it. Reads of single objects come with every watched kind; see decision 010.
   */
  readonly isCovered: boolean;
}

/** permissionsIn returns all permissions granted by RBAC manifests, one by one. */
export function permissionsIn(manifests: readonly RbacManifest[]): readonly Permission[] {
  return manifests.flatMap((manifest, index) =>
    rulesOf(manifest).flatMap((each, rule) =>
      each.verbs.flatMap((verb) =>
        (each.resourceNames ?? [undefined]).map((name, at) => ({
          manifest: index,
          rule,
          verb,
          name: name === undefined ? undefined : at,
          text: `${verb} ${describe(each, name)} (${manifest.kind})`,
          isCovered: verb === 'get' && each.verbs.includes('list'),
        })),
      ),
    ),
  );
}

/** without returns the manifests without one permission. */
export function without(manifests: readonly RbacManifest[], permission: Permission): readonly RbacManifest[] {
  return manifests.map((manifest, index) => {
    if (index !== permission.manifest) return manifest;
    const rules = rulesOf(manifest).flatMap((each, rule) =>
      rule === permission.rule ? remainingRules(each, permission) : [each],
    );
    return { ...manifest, rules };
  });
}

/** remainingRules returns the rest of a rule: its other verbs, and the verb for its other names. */
function remainingRules(rule: PolicyRule, { verb, name }: Permission): readonly PolicyRule[] {
  if (!rule.verbs.includes(verb)) throw new TypeError(`no rule grants ${verb}`);
  const verbs = rule.verbs.filter((each) => each !== verb);
  const resourceNames = rule.resourceNames?.filter((_, at) => at !== name) ?? [];
  return [
    ...(verbs.length === 0 ? [] : [{ ...rule, verbs }]),
    ...(resourceNames.length === 0 ? [] : [{ ...rule, verbs: [verb], resourceNames }]),
  ];
}

function rulesOf(manifest: RbacManifest): readonly PolicyRule[] {
  return 'rules' in manifest ? (manifest.rules ?? []) : [];
}

function describe({ apiGroups = [], resources = [] }: PolicyRule, name: string | undefined): string {
  const what = resources.map((resource) => [resource, ...apiGroups.filter((group) => group !== '')].join('.'));
  return [...what, ...(name === undefined ? [] : [name])].join(' ');
}
