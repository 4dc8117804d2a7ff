import type { KubernetesObject } from '@bowline/kubernetes';
import type { LiveClient } from '@bowline/runtime/controller';
import { ANNOTATIONS, SINGLETON } from '../api/names.ts';
import type { OperandKind } from '../api/operand-kinds.ts';
import type { Operand } from '../resolve/copies.ts';
import type { Inheritance } from '../resolve/inheritance.ts';
import { OPERAND_RESOURCES } from './operand-kind.ts';

/**
 * writeInheritance writes the values that an operand inherits, and the annotation that names them, in one request. Values
 * that were written before and are no longer inherited are removed, unless the user has set them too. It fails with a
 * conflict if the operand was changed since it was read: a forced apply would overwrite what its user has set.
 */
export function writeInheritance(
  live: Pick<LiveClient, 'patch'>,
  kind: OperandKind,
  { metadata }: Operand,
  inheritance: Inheritance | undefined,
): Promise<KubernetesObject> {
  const body = {
    metadata: {
      name: SINGLETON,
      // With its uid, an operand that is deleted meanwhile is not created again.
      uid: metadata?.uid,
      resourceVersion: metadata?.resourceVersion,
      ...(inheritance ? { annotations: { [ANNOTATIONS.inherited]: inheritance.annotation } } : {}),
    },
    ...(inheritance ? { spec: inheritance.spec } : {}),
  };
  return live.patch(OPERAND_RESOURCES[kind], { name: SINGLETON }, { type: 'apply', force: true, body });
}
