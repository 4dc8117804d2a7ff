import type { AdmissionRequest } from '../admission.ts';

/** shown is a request as webhooks see it: one about a part that is another kind, such as a Scale, is about that kind. */
export function shown(request: AdmissionRequest): AdmissionRequest {
  const { object, old } = request;
  const projection = projectionOf(request);
  if (!projection) return request;
  return { ...request, object: object && projection.show(object), old: old && projection.show(old) };
}

/** takeBack changes what a request is about to what became of it as it was shown. */
export function takeBack(request: AdmissionRequest, seen: AdmissionRequest): void {
  if (request !== seen && request.object && seen.object) projectionOf(request)?.take(request.object, seen.object);
}

function projectionOf({ resource, subresource }: AdmissionRequest) {
  return subresource === '' ? undefined : resource.subresources.get(subresource)?.projection;
}
