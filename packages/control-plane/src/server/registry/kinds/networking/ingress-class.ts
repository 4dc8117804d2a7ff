import type { IngressClass } from '@bowline/kubernetes';
import { dnsLabelProblems, dnsSubdomainProblems, type FieldProblem } from '@bowline/machinery';
import { type KindRules, specChanged } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { forbidden, IMMUTABLE, invalid, invalids, notSupported, required } from '../shared/problems.ts';

const MAX_CONTROLLER_BYTES = 250;

/** ingressClassRules validates the controller and the parameters of an IngressClass. */
export const ingressClassRules: KindRules = {
  applyDefaults(object) {
    const { parameters } = as<IngressClass>(object).spec ?? {};
    if (parameters) parameters.scope ??= 'Cluster';
  },
  validate(object, old) {
    const { controller = '', parameters } = as<IngressClass>(object).spec ?? {};
    const before = old && as<IngressClass>(old).spec?.controller;
    const problems = old ? [] : controllerProblems(controller);
    if (old && controller !== before) problems.push(invalid('spec.controller', controller, IMMUTABLE));
    return parameters ? [...problems, ...parametersProblems(parameters)] : problems;
  },
  countsGeneration: specChanged,
  columns: [
    column(
      'Controller',
      'Controller that implements the class.',
      (object) => as<IngressClass>(object).spec?.controller ?? '',
    ),
    column('Parameters', 'Reference to the parameters of the controller.', (object) => {
      const { parameters } = as<IngressClass>(object).spec ?? {};
      if (!parameters) return '<none>';
      const kind = parameters.apiGroup ? `${parameters.kind}.${parameters.apiGroup}` : parameters.kind;
      return `${kind}/${parameters.name}`;
    }),
    AGE,
  ],
};

function controllerProblems(controller: string): FieldProblem[] {
  const field = 'spec.controller';
  if (controller === '') return [required(field)];
  if (controller.length > MAX_CONTROLLER_BYTES)
    return [
      { field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${MAX_CONTROLLER_BYTES} bytes` },
    ];
  const [domain = '', ...path] = controller.split('/');
  if (path.length === 0 || path.join('/') === '')
    return [invalid(field, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return invalids(field, domain, dnsSubdomainProblems(domain));
}

type Parameters = NonNullable<NonNullable<PartialObject<IngressClass>['spec']>['parameters']>;

function parametersProblems({ apiGroup, kind, name, scope, namespace }: Parameters): FieldProblem[] {
  const at = 'spec.parameters';
  const problems: FieldProblem[] = [];
  if (apiGroup !== undefined) problems.push(...invalids(`${at}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup)));
  if (!kind) problems.push(required(`${at}.kind`));
  if (!name) problems.push(required(`${at}.name`));
  if (scope !== 'Cluster' && scope !== 'Namespace')
    problems.push(notSupported(`${at}.scope`, scope ?? '', ['Cluster', 'Namespace']));
  if (scope === 'Namespace') {
    if (!namespace) problems.push(required(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    else problems.push(...invalids(`${at}.namespace`, namespace, dnsLabelProblems(namespace)));
  } else if (scope === 'Cluster' && namespace !== undefined) {
    problems.push(forbidden(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'"));
  }
  return problems;
}
