#pragma once

// Everything a program that takes locks needs.

#include "holdfast/client.hpp"
#include "holdfast/error.hpp"
#include "holdfast/fence.hpp"
#include "holdfast/finding.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/holder_record.hpp"
#include "holdfast/inspect.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/observer.hpp"
#include "holdfast/options.hpp"
#include "holdfast/owner.hpp"
#include "holdfast/pending.hpp"
#include "holdfast/result.hpp"
#include "holdfast/run_locked.hpp"
#include "holdfast/time.hpp"
