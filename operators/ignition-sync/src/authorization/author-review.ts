import { authorReview } from '@bowline/runtime/access';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { OPERATOR } from '../api/names.ts';

/**
 * authors reviews the authors of IgnitionSyncs: the operator reads Secrets with its own permissions, and sends them to hosts
 * that the spec names, so authors must have the permission to read them.
 */
export const authors = authorReview(IgnitionSync, { operator: OPERATOR });
