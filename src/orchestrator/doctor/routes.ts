import type { Handlers } from "../../adapters/http/handler.ts";
import type { doctorContracts } from "../../core/api/doctor.ts";
import type { DoctorDeps } from "./run-doctor.ts";
import { runDoctor } from "./run-doctor.ts";

export interface DoctorRouteDeps {
  readonly doctor: DoctorDeps;
  readonly status: () => { readonly owner_id: string };
}

export function doctorRoutes({
  doctor,
  status,
}: DoctorRouteDeps): Handlers<typeof doctorContracts> {
  return {
    runDoctor: async () => ({
      checked_at: doctor.signIn.clock.now().toISOString(),
      owner_id: status().owner_id,
      checks: await runDoctor(doctor),
    }),
  };
}
