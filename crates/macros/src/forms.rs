//! In which form a parameter reaches the thunk. The macro sees types only as they are written.

use syn::Type;

/// The form of a parameter.
#[derive(Clone)]
pub enum Form {
    /// `&[T]` or `&mut [T]`: a pointer and a length.
    Slice { elem: Type, mutable: bool },
    /// `&T` or `&mut T` of a type with a size: a pointer.
    Thin { elem: Type, mutable: bool },
    /// `&str`, `&dyn Trait`: a pointer to the reference.
    Fat { elem: Type },
    /// `*const T` or `*mut T`: a pointer.
    Pointer { elem: Type },
    /// `fn(…) -> …`: the address of a function.
    FnPointer(Type),
    /// Anything else: a pointer to the value.
    Value(Type),
}

impl Form {
    /// The form of a parameter of this type.
    pub fn of(ty: &Type) -> Form {
        match peel(ty) {
            Type::Reference(reference) => {
                let mutable = reference.mutability.is_some();
                match peel(&reference.elem) {
                    Type::Slice(slice) => Form::Slice {
                        elem: (*slice.elem).clone(),
                        mutable,
                    },
                    elem if is_unsized(elem) => Form::Fat { elem: elem.clone() },
                    elem => Form::Thin {
                        elem: elem.clone(),
                        mutable,
                    },
                }
            }
            Type::Ptr(pointer) => Form::Pointer {
                elem: (*pointer.elem).clone(),
            },
            ty @ Type::FnPtr(_) => Form::FnPointer(ty.clone()),
            ty => Form::Value(ty.clone()),
        }
    }

    /// Whether the function may write to what it borrows.
    pub fn is_mutable(&self) -> bool {
        matches!(
            self,
            Form::Slice { mutable: true, .. } | Form::Thin { mutable: true, .. }
        )
    }

    /// The type of the numbers' container, without reference or pointer.
    pub fn pointee(&self) -> &Type {
        match self {
            Form::Slice { elem, .. }
            | Form::Thin { elem, .. }
            | Form::Fat { elem }
            | Form::Pointer { elem }
            | Form::FnPointer(elem)
            | Form::Value(elem) => elem,
        }
    }
}

/// A type without parentheses and invisible groups around it.
pub fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => peel(&inner.elem),
        Type::Group(inner) => peel(&inner.elem),
        ty => ty,
    }
}

fn is_unsized(ty: &Type) -> bool {
    matches!(ty, Type::TraitObject(_))
        || matches!(ty, Type::Path(path) if path.path.is_ident("str"))
}

/// The word for a type that cannot hold a number with a derivative, whatever it is named after.
pub fn never_has_derivative(ty: &Type) -> Option<String> {
    const WORDS: [&str; 16] = [
        "bool", "char", "str", "String", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
        "u32", "u64", "u128", "usize",
    ];
    match peel(ty) {
        Type::Array(array) => never_has_derivative(&array.elem),
        Type::Slice(slice) => never_has_derivative(&slice.elem),
        Type::Path(path) => {
            let word = path.path.get_ident()?.to_string();
            WORDS.contains(&word.as_str()).then_some(word)
        }
        _ => None,
    }
}
