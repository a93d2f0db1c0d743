/**
 * `/v1/criteria`: the built-in rubrics, and a check of one's own.
 *
 * @module
 */
import * as z from "zod";
import { AssayError, showValue } from "../verifier/errors.ts";
import { criteriaSchema, parseRequest } from "../verifier/requests.ts";
import { builtInRubricNames, resolveRubric } from "../verifier/rubric.ts";
import { Warnings } from "../verifier/text.ts";
import { jsonResponse } from "./answer.ts";
import { readJson } from "./body.ts";
import type { Operation, Services } from "./operation.ts";

/** Body of `POST /v1/criteria/parse`. */
export const criteriaParseRequest = z.strictObject({ criteria: criteriaSchema })
  .describe("A rubric in any form that a request may carry.");

const EXAMPLE_CRITERION = {
  id: "correctness",
  name: "Correctness",
  description: "The result does what the task asked, shown by a run.",
  weight: 1,
};

/** The endpoints for rubrics. */
export function criteriaOperations(services: Services): readonly Operation[] {
  return [
    {
      method: "get",
      path: "/v1/criteria",
      id: "listCriteria",
      tag: "Criteria",
      access: "token",
      summary: "List the built-in rubrics",
      description: "Names and criterion ids of the rubrics that a request can use by name.",
      answers: [{
        status: 200,
        description: "The rubrics.",
        content: {
          "application/json": {
            schema: "RubricList",
            example: { rubrics: [{ name: "general", criteria: ["correctness"] }] },
          },
        },
      }],
      handle: () =>
        jsonResponse({
          rubrics: builtInRubricNames().map((name) => ({
            name,
            criteria: resolveRubric(name).criteria.map(({ id }) => id),
          })),
        }),
    },
    {
      method: "get",
      path: "/v1/criteria/{name}",
      id: "getCriteria",
      tag: "Criteria",
      access: "token",
      summary: "Show one built-in rubric",
      description: "The ground-truth note and every criterion, as the judge reads them.",
      parameters: [{
        name: "name",
        in: "path",
        required: true,
        description: "Name of a built-in rubric.",
        example: "coding",
      }],
      answers: [{
        status: 200,
        description: "The rubric.",
        content: {
          "application/json": {
            schema: "Rubric",
            example: { name: "coding", groundTruthNote: "", criteria: [EXAMPLE_CRITERION] },
          },
        },
      }],
      problems: ["not_found"],
      handle: (context) => {
        const name = context.req.param("name") ?? "";
        if (!builtInRubricNames().includes(name)) {
          throw new AssayError(
            "not_found",
            `There is no built-in rubric ${showValue(name)}; there are: ${builtInRubricNames().join(", ")}.`,
          );
        }
        return jsonResponse(resolveRubric(name));
      },
    },
    {
      method: "post",
      path: "/v1/criteria/parse",
      id: "parseCriteria",
      tag: "Criteria",
      access: "token",
      summary: "Check a rubric",
      description:
        "Reads a rubric as every verb would (built-in name, Markdown, `{ name: description }` or an array) and " +
        "answers with what it understood, ids included. Costs nothing.",
      body: {
        schema: "CriteriaParseRequest",
        examples: {
          markdown: {
            summary: "Markdown",
            value: { criteria: "# Mine\n\n## Criteria\n\n### Correctness\nThe tests pass and were run.\n" },
          },
          object: {
            summary: "Names and descriptions",
            value: { criteria: { Correctness: "The tests pass." } },
          },
        },
      },
      answers: [{
        status: 200,
        description: "The rubric as Assay reads it.",
        content: {
          "application/json": {
            schema: "ParsedCriteria",
            example: { groundTruthNote: "", criteria: [EXAMPLE_CRITERION], warnings: [] },
          },
        },
      }],
      handle: async (context) => {
        const request = parseRequest(
          criteriaParseRequest,
          await readJson(context.req.raw, services.bodyLimitBytes),
        );
        const warnings = new Warnings();
        const { groundTruthNote, criteria } = resolveRubric(request.criteria, undefined, warnings);
        return jsonResponse({ groundTruthNote, criteria, warnings: warnings.list() });
      },
    },
  ];
}
