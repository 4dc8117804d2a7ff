import { REPORT_ANNOTATION } from '../../../../operators/hsm-secrets/src/api/names.ts';
import { accountsPolicy, reportsPolicy } from '../../../../operators/hsm-secrets/src/guard/report-policies.ts';
import { type Case, get, MERGE, patch, post, remove, repeated, type Step } from '../step.ts';

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/NS';
const PODS = '/api/v1/namespaces/NS/pods';
const IN_NAMESPACE = { matchLabels: { 'kubernetes.io/metadata.name': 'NS' } };
const PODS_RULE = {
  apiGroups: [''],
  resources: ['pods', 'pods/status', 'pods/binding'],
  verbs: ['get', 'create', 'update', 'patch'],
};

type Policy = typeof reportsPolicy;

/** install creates a policy of the operator, for the namespace of the case. */
function install(policy: Policy): readonly Step[] {
  const name = `OWN-${policy.suffix}`;
  const context = { config: {}, namespace: 'NS', serviceAccount: 'OWN', namespaces: undefined, nameOf: () => name };
  return [
    post(`${REGISTRATION}/validatingadmissionpolicies`, { metadata: { name }, ...policy.content(context) }),
    post(`${REGISTRATION}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], matchResources: { namespaceSelector: IN_NAMESPACE } },
    }),
    // The type check, whose result the real server adds later.
    repeated(get(`${REGISTRATION}/validatingadmissionpolicies/${name}`)),
  ];
}

function uninstall({ suffix }: Policy): readonly Step[] {
  return ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'].map((plural) =>
    remove(`${REGISTRATION}/${plural}/OWN-${suffix}`),
  );
}

/** account creates a ServiceAccount that may change pods and use verbs on hsmpools. */
function account(name: string, verbs: readonly string[]): readonly Step[] {
  const pools = verbs.length === 0 ? [] : [{ apiGroups: ['hsm.j5t.io'], resources: ['hsmpools'], verbs }];
  return [
    post('/api/v1/namespaces/NS/serviceaccounts', { metadata: { name } }),
    post(`${RBAC}/roles`, { metadata: { name }, rules: [PODS_RULE, ...pools] }),
    post(`${RBAC}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', namespace: 'NS', name }],
    }),
  ];
}

const annotated = (text: string | null): object => ({ metadata: { annotations: { [REPORT_ANNOTATION]: text } } });

function pod(name: string, metadata: object = {}): object {
  const containers = [{ name: 'a', image: 'example.test/a:1' }];
  const spec = { nodeName: 'node-a', serviceAccountName: 'discovery', automountServiceAccountToken: false, containers };
  return { metadata: { name, labels: { a: 'b' }, annotations: { c: 'd' }, ...metadata }, spec };
}

const ACCOUNTS: readonly Step[] = [...account('discovery', ['self-report']), ...account('scanner', ['report'])];
/** The first steps of each case. */
const SETUP: readonly Step[] = [...ACCOUNTS, post(PODS, pod('own')), post(PODS, pod('other'))];
const OWN_UID = `{{${ACCOUNTS.length}.metadata.uid}}`;

const EXTRA = 'impersonate-extra-authentication.kubernetes.io%2F';

/** as returns the headers of a request by a ServiceAccount, with the claims of a token that is bound to a pod. */
function as(name: string, claims: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return {
    'impersonate-user': `system:serviceaccount:NS:${name}`,
    'impersonate-group': 'system:serviceaccounts',
    ...Object.fromEntries(Object.entries(claims).map(([claim, value]) => [`${EXTRA}${claim}`, value])),
  };
}

const BOUND = { 'pod-uid': OWN_UID, 'pod-name': 'own' };

/** Who sends a request. */
const CALLERS: readonly Readonly<Record<string, string>>[] = [
  as('discovery', BOUND),
  as('discovery', { ...BOUND, 'node-name': 'node-a' }),
  as('discovery', { ...BOUND, 'node-name': 'node-b' }),
  as('discovery', { 'pod-uid': 'another' }),
  as('discovery'),
  as('scanner', BOUND),
  as('scanner'),
  {},
];

const dryRun = (step: Step): Step => repeated({ ...step, path: `${step.path}?dryRun=All` });

const change = (path: string, body: object, headers: Readonly<Record<string, string>>): Step =>
  dryRun(patch(`${PODS}/${path}`, body, { ...MERGE, ...headers }));

const binding = {
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name: 'own', annotations: { [REPORT_ANNOTATION]: '{}' } },
  target: { kind: 'Node', name: 'node-a' },
};

/** The requests that change reports. */
const reports: Case = {
  name: 'hsm-secrets: the policy of reports',
  steps: [
    ...SETUP,
    ...install(reportsPolicy),
    ...CALLERS.flatMap((caller) => [
      change('own', annotated('{}'), caller),
      change('own', annotated(''), caller),
      change('own', { metadata: { labels: { a: 'c' } } }, caller),
      change('own/status', { ...annotated('{}'), status: { message: 'a' } }, caller),
      change('other', annotated('{}'), caller),
      change('own', annotated('x'.repeat(65_536)), caller),
      change('own', annotated('x'.repeat(65_537)), caller),
      change('own', annotated('é'.repeat(65_536)), caller),
      dryRun(post(PODS, pod('new', { annotations: { [REPORT_ANNOTATION]: '{}' } }), caller)),
      dryRun(post(PODS, pod('new', { annotations: undefined, labels: undefined }), caller)),
      dryRun(post(`${PODS}/own/binding`, binding, caller)),
    ]),
    // An existing report that others change and remove.
    patch(`${PODS}/own`, annotated('{}'), MERGE),
    ...CALLERS.flatMap((caller) => [
      change('own', annotated(null), caller),
      change('own', annotated('{"a":1}'), caller),
      change('own', { metadata: { annotations: null } }, caller),
    ]),
    ...uninstall(reportsPolicy),
  ],
};

/** The requests of discovery accounts. */
const accounts: Case = {
  name: 'hsm-secrets: the policy of discovery accounts',
  steps: [
    ...SETUP,
    ...install(accountsPolicy),
    ...CALLERS.flatMap((caller) => [
      change('own', annotated('{}'), caller),
      change('own', {}, caller),
      change('other', annotated('{}'), caller),
      change('own', { metadata: { labels: { a: 'c' } } }, caller),
      change('own', { metadata: { labels: null } }, caller),
      change('own', { metadata: { annotations: { c: 'e' } } }, caller),
      change('own', { metadata: { annotations: null } }, caller),
      change('own', { metadata: { annotations: { e: 'f', [REPORT_ANNOTATION]: '{}' } } }, caller),
      change('own', { metadata: { finalizers: ['example.test/a'] } }, caller),
      change('own', { spec: { activeDeadlineSeconds: 60 } }, caller),
      change('own', { spec: { containers: [{ name: 'a', image: 'example.test/a:2' }] } }, caller),
      change('own/status', { status: { message: 'a' } }, caller),
    ]),
    ...uninstall(accountsPolicy),
  ],
};

/** hsmPolicies covers the admission policies of the operator hsm-secrets, with requests that they allow and refuse. */
export const hsmPolicies: readonly Case[] = [reports, accounts];
