import type { AccessQuestion, PathQuestion, Subject } from '../client/client.ts';

/** reviewKey returns the cache key of an access review: equal for equal subjects and questions. */
export function reviewKey({ user, uid, groups, extra }: Subject, question: AccessQuestion | PathQuestion): string {
  return JSON.stringify([user, uid, groups, extra, partsOf(question)]);
}

/** partsOf returns the parts of a question in a fixed order, so that equal questions have equal keys. */
function partsOf(question: AccessQuestion | PathQuestion): readonly (string | undefined)[] {
  if ('path' in question) return [question.verb, question.path];
  const { verb, group = '', resource, subresource, namespace, name } = question;
  return [verb, group, resource, subresource, namespace, name];
}
