import { authorReview } from '@bowline/runtime/access';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { OPERATOR } from '../api/names.ts';

/**
 * authors reviews the authors of ConfigMapSyncs: the operator reads and writes with its own permissions, so they must
 * have the rights to do the same.
 */
export const authors = authorReview(ConfigMapSync, { operator: OPERATOR });
