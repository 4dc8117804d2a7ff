import type { PolicyRule, Subject } from '@bowline/kubernetes';
import { quoteText } from '@bowline/machinery';
import { MASTERS, type UserInfo } from '../authentication/user-info.ts';
import type { Attributes, Authorizer, Decision } from './authorizer.ts';
import { allowsPath, allowsResource, type CompiledRule } from './policy-rule.ts';
import { accountNamespace, type Binding, RBAC_GROUP, type RbacIndex, subjectFor } from './rbac-index.ts';

const ALLOWED: Decision = Object.freeze({ allowed: true, reason: '' });
const DENIED: Decision = Object.freeze({ allowed: false, reason: '' });

/** HeldRules holds the rules that a user has in a namespace. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly compiled: readonly CompiledRule[];
  /** Why other rules could not be resolved, as worded by the API server. */
  readonly problems: readonly string[];
}

/** RbacAuthorizer decides by the stored roles and bindings: an action that no rule allows is denied. */
export class RbacAuthorizer implements Authorizer {
  readonly #index: RbacIndex;

  constructor(index: RbacIndex) {
    this.#index = index;
  }

  authorize(user: UserInfo, attributes: Attributes): Decision {
    if (user.groups.includes(MASTERS)) return ALLOWED;
    const dangling: Binding[] = [];
    const binding = this.#index.find(user, attributes.isResource ? attributes.namespace : '', (each) => {
      const rules = this.#index.rulesOf(each.role);
      if (rules) return rules.some((rule) => allows(rule, attributes));
      dangling.push(each);
      return false;
    });
    if (binding) return allowedBy(binding, user);
    if (dangling.length === 0) return DENIED;
    return { allowed: false, reason: `RBAC: ${joined(dangling.map(problemOf))}` };
  }

  /** heldBy returns the rules of a user in a namespace; the empty namespace returns those that apply everywhere. */
  heldBy(user: UserInfo, namespace: string): HeldRules {
    const seen = new Set<Binding>();
    const compiled: CompiledRule[] = [];
    const problems: string[] = [];
    this.#index.find(user, namespace, (binding) => {
      if (seen.has(binding)) return false;
      seen.add(binding);
      const rules = this.#index.rulesOf(binding.role);
      if (rules) compiled.push(...rules);
      else problems.push(problemOf(binding));
      return false;
    });
    return { rules: compiled.map(({ rule }) => rule), compiled, problems };
  }
}

/** joined formats problems as the API server does: a single one as it is, several in brackets, without duplicates. */
export function joined(problems: readonly string[]): string {
  const each = [...new Set(problems)];
  return each.length === 1 ? `${each[0]}` : `[${each.join(', ')}]`;
}

function allows(rule: CompiledRule, attributes: Attributes): boolean {
  return attributes.isResource ? allowsResource(rule, attributes) : allowsPath(rule, attributes);
}

function allowedBy(binding: Binding, user: UserInfo): Decision {
  const { namespace, name, role } = binding;
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const what = namespace === '' ? name : `${name}/${namespace}`;
  const whom = subjectFor(binding, user);
  const reason = `RBAC: allowed by ${kind} ${quoteText(what)} of ${role.kind} ${quoteText(role.name)} to ${subjectText(whom, namespace)}`;
  return { allowed: true, reason };
}

function subjectText(subject: Subject | undefined, namespace: string): string {
  if (!subject) return '';
  const { kind, name } = subject;
  return `${kind} ${quoteText(kind === 'ServiceAccount' ? `${name}/${accountNamespace(subject, namespace)}` : name)}`;
}

function problemOf({ role: { kind, name } }: Binding): string {
  return kind === 'Role' || kind === 'ClusterRole'
    ? `${kind.toLowerCase()}.${RBAC_GROUP} ${quoteText(name)} not found`
    : `unsupported role reference kind: ${quoteText(kind)}`;
}
