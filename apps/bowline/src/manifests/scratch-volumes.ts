import type { Volume, VolumeMount } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';

/** SCRATCH_FOLDER is where scratch folders are mounted unless the setting `scratchFolder` names another folder. */
export const SCRATCH_FOLDER = '/var/lib/bowline';

/** needsScratchFolder reports whether any of some operators declares a scratch folder. */
export function needsScratchFolder(operators: readonly Operator[]): boolean {
  return operators.some(({ scratchFolder }) => scratchFolder !== undefined);
}

/**
 * scratchVolumes returns a volume for each scratch folder of configured operators, and where it is mounted. The content
 * is lost with the pod.
 */
export function scratchVolumes(
  operators: readonly Operator[],
  folder: string = SCRATCH_FOLDER,
): readonly { readonly volume: Volume; readonly mount: VolumeMount }[] {
  return operators.flatMap(({ name: operator, scratchFolder }) => {
    if (typeof scratchFolder?.sizeLimit !== 'string') return [];
    const name = `scratch-${operator}`;
    return [
      {
        volume: { name, emptyDir: { sizeLimit: scratchFolder.sizeLimit } },
        mount: { name, mountPath: `${folder}/${operator}` },
      },
    ];
  });
}
