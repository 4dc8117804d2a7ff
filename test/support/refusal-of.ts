import { ApiError } from '@bowline/runtime/client';

/** refusalOf returns the error with which the API server refuses a request. */
export async function refusalOf(request: Promise<unknown>): Promise<ApiError> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the API server accepted the request');
}
