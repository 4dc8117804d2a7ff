import type { AccessQuestion } from '../client/client.ts';

/**
 * describeAccess describes permissions for users: `get secret token in namespace a; create configmaps in every namespace`.
 */
export function describeAccess(questions: readonly AccessQuestion[]): string {
  return questions.map(describeQuestion).join('; ');
}

function describeQuestion({ verb, group, resource, subresource, namespace, name }: AccessQuestion): string {
  const kind = [name === undefined ? resource : singularOf(resource), ...(group ? [group] : [])].join('.');
  const what = [kind, ...(subresource ? [subresource] : [])].join('/');
  const where = namespace === undefined ? 'every namespace' : `namespace ${namespace}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`} in ${where}`;
}

/** The reverse of the rule by which Kubernetes forms plurals. */
function singularOf(resource: string): string {
  if (resource.endsWith('ies')) return `${resource.slice(0, -3)}y`;
  return resource.endsWith('sses') ? resource.slice(0, -2) : resource.replace(/s$/, '');
}
