import type { ControllerRevision } from '@bowline/kubernetes';
import { isSameJson } from '@bowline/machinery';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import { IMMUTABLE, invalid, notNegative, required } from '../shared/problems.ts';

/** controllerRevisionRules keeps the data of ControllerRevisions immutable. */
export const controllerRevisionRules: KindRules = {
  validate({ revision, data }, old) {
    const problems = notNegative('revision', revision as number | undefined);
    if (data === undefined || data === null) problems.push(required('data', 'data is mandatory'));
    else if (typeof data !== 'object' || Array.isArray(data)) {
      problems.push(required('data', 'data must be a valid JSON object'));
    }
    if (old && !isSameJson(data, old.data)) problems.push(invalid('data', data, IMMUTABLE));
    return problems;
  },
  columns: [
    column('Controller', 'Controller that owns the revision.', ({ metadata }) => {
      const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
      if (!owner) return '<none>';
      const group = owner.apiVersion.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : '';
      return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
    }),
    column('Revision', 'Number of the revision.', (object) => as<ControllerRevision>(object).revision ?? 0),
    AGE,
  ],
};
