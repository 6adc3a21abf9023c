/* What a call returns. Whatever isn't PFX_ok was found before a byte was written. */
enum {
    PFX_ok = 0,
    PFX_error_null = 1,                /* a view with elements has no memory */
    PFX_error_extent = 2,              /* an extent is negative or above INT32_MAX */
    PFX_error_stride = 3,              /* a stride differs from the one that the code was compiled for */
    PFX_error_size = 4,                /* a view, or the work, leaves the address space */
    PFX_error_coordinates = 5,         /* the extents make a coordinate leave int32_t; call with smaller parts */
    PFX_error_overlaps_itself = 6,     /* two coordinates of an output share an element, or may */
    PFX_error_overlap = 7,             /* an output overlaps another view, or may */
    PFX_error_in_place = 8,            /* an output is another view, and this kernel can't work in place on them */
    PFX_error_workspace = 9,           /* the workspace is missing or too small */
    PFX_error_workspace_alignment = 10 /* the workspace isn't aligned to 64 bytes */
};

/* The meaning of a status in words. */
static inline const char *PFX_status_text(int status)
{
    switch (status) {
    case PFX_ok: return "it is done";
    case PFX_error_null: return "a view with elements has no memory";
    case PFX_error_extent: return "an extent is negative or above INT32_MAX";
    case PFX_error_stride: return "a stride differs from the one that the code was compiled for";
    case PFX_error_size: return "a view, or the work, leaves the address space";
    case PFX_error_coordinates: return "the extents make a coordinate leave int32_t; call with smaller parts";
    case PFX_error_overlaps_itself: return "two coordinates of an output share an element, or may";
    case PFX_error_overlap: return "an output overlaps another view, or may";
    case PFX_error_in_place: return "an output is another view, and this kernel can't work in place on them";
    case PFX_error_workspace: return "the workspace is missing or too small";
    case PFX_error_workspace_alignment: return "the workspace isn't aligned to 64 bytes";
    default: return "no status of this library";
    }
}

/* The rest of this part is for the functions below. */

typedef struct PFX_internal_view {
    uintptr_t base;
    uintptr_t low;  /* the first byte */
    uintptr_t high; /* past the last byte */
    int element;
    int size;
    int written;
    int empty;
    int rank;
    int64_t extents[PFX_INTERNAL_RANK];
    int64_t steps[PFX_INTERNAL_RANK]; /* strides in bytes; 0 where there is one coordinate at most */
} PFX_internal_view;

/* Reads a view, checks it, and writes its words of the launch record. A stride of INT64_MIN in `fixed` is any. */
static inline int PFX_internal_see(PFX_internal_view *view, const void *data, const int64_t *axes, const int *dims,
                                   const int64_t *strides, const int64_t *fixed, uint64_t *words)
{
    const int64_t most = (((int64_t)1) << 61) / view->size;
    int64_t dense = 1, low = 0, high = 0;
    int d;
    view->base = (uintptr_t)data;
    view->low = view->high = view->base;
    view->empty = 0;
    words[0] = (uint64_t)view->base;
    for (d = 0; d < view->rank; d++) {
        if (axes[dims[d]] == 0) {
            view->empty = 1;
        }
    }
    for (d = view->rank - 1; d >= 0; d--) {
        const int64_t extent = axes[dims[d]];
        int64_t stride = strides != NULL ? strides[d] : fixed[d] != INT64_MIN ? fixed[d] : dense;
        view->extents[d] = extent;
        view->steps[d] = 0;
        if (extent > 1 && !view->empty) {
            int64_t reach;
            if (fixed[d] != INT64_MIN && stride != fixed[d]) {
                return PFX_error_stride;
            }
            if (stride > most / extent || stride < -(most / extent)) {
                return PFX_error_size;
            }
            view->steps[d] = stride * view->size;
            reach = view->steps[d] * (extent - 1);
            if (reach < 0) {
                low += reach;
            } else {
                high += reach;
            }
            if (high - low > ((int64_t)1) << 61) {
                return PFX_error_size;
            }
            if (stride != 0) {
                dense = (stride < 0 ? -stride : stride) * extent;
            }
        }
        words[1 + 2 * d] = (uint64_t)extent;
        words[2 + 2 * d] = (uint64_t)view->steps[d];
    }
    if (view->empty) {
        return PFX_ok;
    }
    if (data == NULL) {
        return PFX_error_null;
    }
    if ((uint64_t)-low > view->base || (uint64_t)high + (uint64_t)view->size > UINTPTR_MAX - view->base) {
        return PFX_error_size;
    }
    view->low = view->base - (uintptr_t)-low;
    view->high = view->base + (uintptr_t)high + (uintptr_t)view->size;
    return PFX_ok;
}

/* Whether no element is reached by two coordinates. Sorted by magnitude, each step has to exceed the reach of all smaller
   ones together, as the digits of a number do; a view for which that fails may be refused although its elements are distinct. */
static inline int PFX_internal_injective(const PFX_internal_view *view)
{
    int64_t steps[PFX_INTERNAL_RANK], extents[PFX_INTERNAL_RANK], reach = 0;
    int count = 0, d, at;
    if (view->empty) {
        return 1;
    }
    for (d = 0; d < view->rank; d++) {
        const int64_t step = view->steps[d] < 0 ? -view->steps[d] : view->steps[d];
        if (view->extents[d] <= 1) {
            continue;
        }
        for (at = count; at > 0 && steps[at - 1] > step; at--) {
            steps[at] = steps[at - 1];
            extents[at] = extents[at - 1];
        }
        steps[at] = step;
        extents[at] = view->extents[d];
        count++;
    }
    for (d = 0; d < count; d++) {
        if (steps[d] <= reach) {
            return 0;
        }
        reach += steps[d] * (extents[d] - 1);
    }
    return 1;
}

/* The columns of a view whose rows are `distance` bytes apart: their first byte and width. */
static inline void PFX_internal_columns(const PFX_internal_view *view, int64_t distance, uintptr_t *first, int64_t *width)
{
    int d;
    *first = view->base;
    *width = view->size;
    for (d = 0; d < view->rank; d++) {
        const int64_t reach = view->steps[d] * (view->extents[d] - 1);
        if (view->extents[d] <= 1 || view->steps[d] % distance == 0) {
            continue;
        }
        if (reach < 0) {
            *first -= (uintptr_t)-reach;
            *width -= reach;
        } else {
            *width += reach;
        }
    }
}

/* How two views lie to each other: 0 apart, 1 the very same elements, 2 overlapping, or it can't be told. */
static inline int PFX_internal_relation(const PFX_internal_view *a, const PFX_internal_view *b)
{
    int d, same;
    if (a->empty || b->empty || a->high <= b->low || b->high <= a->low) {
        return 0;
    }
    same = a->base == b->base && a->element == b->element && a->rank == b->rank;
    for (d = 0; same && d < a->rank; d++) {
        same = a->extents[d] == b->extents[d] && a->steps[d] == b->steps[d];
    }
    if (same) {
        return 1;
    }
    /* Slices of the last dimension of one matrix: rows of one distance, different columns. */
    for (d = 0; d < a->rank; d++) {
        const int64_t distance = a->steps[d] < 0 ? -a->steps[d] : a->steps[d];
        uintptr_t a_first, b_first;
        int64_t a_width, b_width, offset;
        if (distance == 0) {
            continue;
        }
        PFX_internal_columns(a, distance, &a_first, &a_width);
        PFX_internal_columns(b, distance, &b_first, &b_width);
        if (b_first >= a_first) {
            offset = (int64_t)((b_first - a_first) % (uintptr_t)distance);
        } else {
            offset = (distance - (int64_t)((a_first - b_first) % (uintptr_t)distance)) % distance;
        }
        if (a_width <= offset && offset + b_width <= distance) {
            return 0;
        }
    }
    return 2;
}

/* Outputs have distinct elements and keep to themselves. `share[a * count + b]`: the two may be the very same elements. */
static inline int PFX_internal_overlap(const PFX_internal_view *views, int count, const unsigned char *share, uint64_t programs)
{
    int a, b;
    for (a = 0; a < count; a++) {
        if (!views[a].written) {
            continue;
        }
        if (!PFX_internal_injective(&views[a])) {
            return PFX_error_overlaps_itself;
        }
        for (b = 0; b < count; b++) {
            int relation;
            if (a == b) {
                continue;
            }
            relation = PFX_internal_relation(&views[a], &views[b]);
            if (relation == 2) {
                return PFX_error_overlap;
            }
            if (relation == 1 && !share[a * count + b] && programs > 1) {
                return PFX_error_in_place;
            }
        }
    }
    return PFX_ok;
}

/* Programs and packets of a domain; 0 if the counts leave 64 bits. */
static inline int PFX_internal_count(const int64_t *extents, int rank, uint64_t programs_per_packet, uint64_t *programs,
                                     uint64_t *packets)
{
    uint64_t all = 1, groups = 1;
    int d;
    *programs = *packets = 0;
    for (d = 0; d < rank; d++) {
        if (extents[d] == 0) {
            return 1;
        }
    }
    for (d = 0; d < rank; d++) {
        const uint64_t extent = (uint64_t)extents[d];
        const uint64_t grouped = d + 1 == rank ? (extent + programs_per_packet - 1) / programs_per_packet : extent;
        if (all > UINT64_MAX / extent) {
            return 0;
        }
        all *= extent;
        groups *= grouped;
    }
    *programs = all;
    *packets = groups;
    return 1;
}

/* Widens a range of coordinates by a term; 0 if the range leaves int32_t. */
static inline int PFX_internal_widen(int64_t *low, int64_t *high, int64_t scale, int64_t extent)
{
    const int64_t reach = extent > 1 ? scale * (extent - 1) : 0;
    if (reach < 0) {
        *low += reach;
    } else {
        *high += reach;
    }
    return *low >= INT32_MIN && *high <= INT32_MAX;
}
